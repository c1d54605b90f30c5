import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose"
import { randomUUID } from "node:crypto"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { Provider } from "oidc-provider"
import { ProviderDeadlines } from "../../../src/accounts/oidc/IdentityProvider.ts"
import type { AppConfig, OidcSettings } from "../../../src/core/index.ts"
import { ask, type Answer } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

export const publicUrl = "https://scheduling.test"
const clientId = "scheduling"
const clientSecret = "a secret of the client"

export interface Person {
  readonly email?: string
  readonly email_verified?: unknown
  readonly name?: string
  readonly groups?: ReadonlyArray<string>
}

type Intercept = (request: http.IncomingMessage, response: http.ServerResponse) => boolean

/** An identity provider on a real socket, made with `oidc-provider`. */
export class TestProvider extends Context.Service<
  TestProvider,
  {
    readonly issuer: string
    /** The people that the provider knows, by subject. */
    readonly people: Map<string, Person>
    /** Replaces the key with which the provider signs. */
    readonly rotateKeys: Effect.Effect<void>
    /** Signs an ID token as the provider does, with any claims. */
    readonly sign: (
      claims: Readonly<Record<string, unknown>>,
      header?: Readonly<Record<string, unknown>>
    ) => Effect.Effect<string>
    /** Lets another handler respond to some requests while the effect runs. */
    readonly during: <A, E, R>(
      intercept: Intercept,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
    /** The paths of the requests that the provider got. */
    readonly requests: Array<string>
  }
>()("@scheduling/server/test/TestProvider") {}

const makeKey = async (): Promise<JWK> => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: "RS256", use: "sig" }
}

const makeOidcProvider = (issuer: string, people: ReadonlyMap<string, Person>, key: JWK) => {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${publicUrl}/panel/oidc/callback`],
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

export const TestProviderLayer = Layer.effect(
  TestProvider,
  Effect.gen(function* () {
    const people = new Map<string, Person>()
    const requests: Array<string> = []
    const interceptors = new Set<Intercept>()
    let key = yield* Effect.promise(makeKey)
    let provider: Provider | undefined
    const server = http.createServer(async (request, response) => {
      requests.push(`${request.method} ${request.url?.split("?")[0]}`)
      if ([...interceptors].some((intercept) => intercept(request, response))) return
      if (request.url?.startsWith("/person/") === true) {
        // The header stands for the form in which a person signs in.
        const accountId = String(request.headers["x-person"])
        await provider?.interactionDetails(request, response)
        await provider?.interactionFinished(request, response, { login: { accountId } })
        return
      }
      await provider?.callback()(request, response)
    })
    yield* Effect.promise(
      () => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    )
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
    )
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    provider = makeOidcProvider(issuer, people, key)
    return TestProvider.of({
      issuer,
      people,
      requests,
      rotateKeys: Effect.promise(async () => {
        key = await makeKey()
        provider = makeOidcProvider(issuer, people, key)
      }),
      sign: (claims, header) =>
        Effect.promise(async () =>
          new SignJWT({ ...claims })
            .setProtectedHeader({ alg: "RS256", kid: String(key.kid), ...header })
            .sign(await importJWK(key, "RS256"))
        ),
      during: (intercept, effect) =>
        Effect.acquireUseRelease(
          Effect.sync(() => interceptors.add(intercept)),
          () => effect,
          () => Effect.sync(() => interceptors.delete(intercept))
        )
    })
  })
)

export const oidcSettings = (issuer: string): OidcSettings => ({
  issuer,
  clientId,
  clientSecret: Redacted.make(clientSecret),
  name: "Keycloak",
  scopes: "openid email profile offline_access",
  allowedDomains: undefined,
  emailVerifiedClaim: "email_verified",
  roleClaim: undefined,
  roles: []
})

/** A node whose people sign in at a provider of its own. */
export const withProvider = (
  settings: Partial<OidcSettings> = {},
  config: Partial<AppConfig["Service"]> = {}
) =>
  Layer.unwrap(
    Effect.map(TestProvider, ({ issuer }) =>
      testAppLayer({ publicUrl, oidc: { ...oidcSettings(issuer), ...settings }, ...config })
    )
  ).pipe(
    Layer.provide(Layer.succeed(ProviderDeadlines, { signInMs: 500, refreshMs: 500 })),
    Layer.provideMerge(TestProviderLayer)
  )

/** The headers that the panel sends from its own page. */
export const ownPage = { origin: publicUrl, "sec-fetch-site": "same-origin", "x-panel": "1" }

/** Begins a sign-in as the panel does. Returns the URL of the provider and the browser's cookie. */
export const beginSignIn = Effect.fnUntraced(function* (
  body: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {}
) {
  const begun = yield* ask("POST", "/panel/oidc", { body, headers: { ...ownPage, ...headers } })
  return {
    answer: begun,
    url: String(begun.body?.url),
    cookie: begun.headers.get("set-cookie")?.split(";")[0] ?? ""
  }
})

/** Signs a person in at the provider. Returns the URL to which the provider sends the browser. */
export const visitProvider = (url: string, subject: string) =>
  Effect.promise(async () => {
    const jar = new Map<string, string>()
    let location = url
    for (let step = 0; step < 10 && !location.startsWith(publicUrl); step++) {
      const response: Response = await fetch(location, {
        redirect: "manual",
        headers: {
          "x-person": subject,
          cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
        }
      })
      for (const set of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        jar.set(name, value)
      }
      const next = response.headers.get("location")
      if (next === null) throw new Error(`${response.status} ${await response.text()}`)
      location = new URL(next, location).href
    }
    return location.slice(publicUrl.length)
  })

/** Returns from the provider to the node. */
export const returnFrom = (path: string, cookie: string) =>
  ask("GET", path, { headers: { cookie, "sec-fetch-site": "cross-site" } })

export const signInAs = Effect.fnUntraced(function* (
  subject: string,
  body: Readonly<Record<string, unknown>> = {}
) {
  const { cookie, url } = yield* beginSignIn(body)
  return yield* returnFrom(yield* visitProvider(url, subject), cookie)
})

/** The address to which a returning browser is sent. */
export const destinationOf = ({ headers, status, text }: Answer) => {
  assert.strictEqual(status, 303, text)
  return headers.get("location")
}

export const sessionCookieOf = ({ headers }: Answer) =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith("__Host-panel_session="))
    ?.split(";")[0] ?? ""

/** Refreshes the session of the panel, as its page does when it opens. */
export const refresh = (cookie: string) =>
  ask("PUT", "/panel/session", { headers: { ...ownPage, cookie } })

/** Adds a person to the provider, with a verified email that nobody has. */
export const addPerson = Effect.fnUntraced(function* (person: Person = {}) {
  const { people } = yield* TestProvider
  const subject = randomUUID()
  const email = `${subject}@example.com`
  people.set(subject, { email, email_verified: true, name: "Ada Lovelace", ...person })
  return { subject, email: person.email ?? email }
})
