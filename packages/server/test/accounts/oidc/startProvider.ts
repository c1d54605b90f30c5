import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose"
import { randomUUID } from "node:crypto"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { Provider } from "oidc-provider"

export const clientId = "scheduling"
export const clientSecret = "a secret of the client"

export interface ProviderUser {
  readonly email?: string
  readonly email_verified?: unknown
  readonly name?: string
  readonly groups?: ReadonlyArray<string>
}

/** Responds to some requests in place of the provider. Returns true if it has responded. */
export type Intercept = (request: http.IncomingMessage, response: http.ServerResponse) => boolean

const makeKey = async (): Promise<JWK> => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: "RS256", use: "sig" }
}

const makeOidcProvider = (
  issuer: string,
  redirectUri: string,
  people: ReadonlyMap<string, ProviderUser>,
  key: JWK
) => {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"]
      }
    ],
    cookies: { keys: ["a key"] },
    scopes: ["openid", "email", "profile", "offline_access"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    jwks: { keys: [key] },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/person/${uid}` },
    findAccount: (_: unknown, sub: string) => {
      const person = people.get(sub)
      return person && { accountId: sub, claims: () => ({ sub, ...person }) }
    },
    loadExistingGrant: async ({
      oidc
    }: {
      readonly oidc: { readonly session: { readonly accountId: string } }
    }) => {
      const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId })
      grant.addOIDCScope("openid email profile offline_access")
      await grant.save()
      return grant
    }
  })
  return provider
}

/** Starts an identity provider on a real socket, based on `oidc-provider`. */
export const startProvider = async (publicUrl: string) => {
  const redirectUri = `${publicUrl}/panel/oidc/callback`
  const people = new Map<string, ProviderUser>()
  const requests: Array<string> = []
  const interceptors = new Set<Intercept>()
  let key = await makeKey()
  let provider: Provider | undefined
  const server = http.createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`)
    if ([...interceptors].some((intercept) => intercept(request, response))) return
    if (request.url?.startsWith("/person/") === true) {
      // The header replaces the provider's sign-in form.
      const accountId = String(request.headers["x-person"])
      await provider?.interactionDetails(request, response)
      await provider?.interactionFinished(request, response, { login: { accountId } })
      return
    }
    await provider?.callback()(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  provider = makeOidcProvider(issuer, redirectUri, people, key)
  return {
    issuer,
    people,
    requests,
    interceptors,
    rotateKeys: async () => {
      key = await makeKey()
      provider = makeOidcProvider(issuer, redirectUri, people, key)
    },
    sign: async (
      claims: Readonly<Record<string, unknown>>,
      header?: Readonly<Record<string, unknown>>
    ) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "RS256", kid: String(key.kid), ...header })
        .sign(await importJWK(key, "RS256")),
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
