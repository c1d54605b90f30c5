import { canonicalEmail } from "@scheduling/domain/auth/emailAddress"
import { Clock, Context, Data, Effect, Layer, Redacted } from "effect"
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  refreshTokenGrant,
  ResponseBodyError,
  type ServerMetadata,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  tokenRevocation
} from "openid-client"
import { AppConfig, type OidcSettings } from "../../core/index.ts"
import { panelOidcCallbackPath } from "../../http/index.ts"
import { boundedFetch, ProviderFetchError } from "./boundedFetch.ts"

/** The identity provider did not respond, or not in time. */
export class ProviderUnavailable extends Data.TaggedError("ProviderUnavailable")<{
  readonly reason: string
}> {}

/** The identity provider rejected the sign-in, or its response does not prove who the person is. */
export class ProviderRejected extends Data.TaggedError("ProviderRejected")<{
  readonly reason: string
  /** The OAuth error code, if the provider sent one. */
  readonly code: string | undefined
}> {}

export type ProviderFailure = ProviderUnavailable | ProviderRejected

/** A person as described by the identity provider. */
export interface ProvidedPerson {
  readonly subject: string
  /** The verified email. Undefined if the provider sent none, or has not verified it. */
  readonly email: string | undefined
  readonly name: string | undefined
  /** The values of the role claim. */
  readonly roles: ReadonlyArray<string>
  /** The token for requesting the person's details from the provider again. */
  readonly refreshToken: Redacted.Redacted | undefined
}

/** The values that the browser keeps while the person signs in at the provider. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/**
 * The configured identity provider. Each exchange has a deadline and limits the size of responses.
 */
export class IdentityProvider extends Context.Service<
  IdentityProvider,
  | {
      readonly settings: OidcSettings
      readonly redirectUri: string
      /** Returns the URL at which the person signs in. */
      readonly authorizationUrl: (secrets: SignInSecrets) => Effect.Effect<string, ProviderFailure>
      /** Exchanges the code in the callback URL's query for the person's details. */
      readonly finish: (
        query: string,
        secrets: SignInSecrets
      ) => Effect.Effect<ProvidedPerson, ProviderFailure>
      /** Requests the details of a person who has signed in before. */
      readonly findAgain: (
        token: Redacted.Redacted,
        subject: string
      ) => Effect.Effect<ProvidedPerson, ProviderFailure>
      /** Revokes a refresh token. */
      readonly revoke: (token: Redacted.Redacted) => Effect.Effect<void, ProviderFailure>
    }
  | undefined
>()("@scheduling/server/accounts/oidc/IdentityProvider") {
  static readonly layer: Layer.Layer<IdentityProvider, never, AppConfig> = Layer.effect(
    IdentityProvider,
    Effect.gen(function* () {
      const { oidc, publicUrl } = yield* AppConfig
      if (oidc === undefined || publicUrl === undefined) return undefined
      return makeProvider(oidc, `${publicUrl}${panelOidcCallbackPath}`, yield* ProviderTimeouts)
    })
  )
}

/** The maximum duration of one exchange with the provider, including all of its requests. */
export const ProviderTimeouts = Context.Reference<{
  readonly signInMs: number
  readonly refreshMs: number
}>("@scheduling/server/accounts/oidc/ProviderTimeouts", {
  defaultValue: () => ({ signInMs: 10_000, refreshMs: 3_000 })
})

/** How long a discovery document is cached. The provider's keys are fetched for each exchange. */
const metadataMs = 5 * 60 * 1000

const makeProvider = (
  settings: OidcSettings,
  redirectUri: string,
  { refreshMs, signInMs }: typeof ProviderTimeouts.Service
) => {
  const { clientId, clientSecret, issuer } = settings
  const insecure = issuer.startsWith("http:") ? [allowInsecureRequests] : []
  let known: { readonly metadata: ServerMetadata; readonly until: number } | undefined

  const metadataAt = async (now: number, fetch: ReturnType<typeof boundedFetch>) => {
    if (known !== undefined && now < known.until) return known.metadata
    const found = await discovery(new URL(issuer), clientId, undefined, None(), {
      [customFetch]: fetch,
      execute: insecure
    })
    known = { metadata: { ...found.serverMetadata() }, until: now + metadataMs }
    return known.metadata
  }

  /**
   * Creates a new configuration for each exchange. It has no cached keys, so that sign-ins work
   * immediately after the provider has changed its keys.
   */
  const configure = async (now: number, deadline: AbortSignal) => {
    const fetch = boundedFetch(deadline)
    const metadata = await metadataAt(now, fetch)
    const configuration = new Configuration(
      metadata,
      clientId,
      {},
      authenticationFor(metadata, clientSecret)
    )
    configuration[customFetch] = fetch
    for (const allow of insecure) allow(configuration)
    enableNonRepudiationChecks(configuration)
    return configuration
  }

  const exchange = <A>(ms: number, run: (configuration: Configuration) => Promise<A>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.tryPromise({
        try: async () => run(await configure(now, AbortSignal.timeout(ms))),
        catch: failureOf
      })
    )

  const personOf = async (
    configuration: Configuration,
    response: TokenEndpointResponse & TokenEndpointResponseHelpers,
    subject: string
  ) => {
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
    const claims = response.claims()
    if (claims !== undefined && claims.sub !== subject) {
      throw new Error("the ID token is for another user")
    }
    if (claims === undefined && !hasUserInfo) {
      throw new ProviderFetchError("the provider returned no claims about the user")
    }
    const userInfo = hasUserInfo
      ? await fetchUserInfo(configuration, response.access_token, subject)
      : {}
    return describePerson({ ...claims, ...userInfo, sub: subject }, settings, response)
  }

  return {
    settings,
    redirectUri,

    authorizationUrl: ({ nonce, state, verifier }: SignInSecrets) =>
      exchange(signInMs, async (configuration) =>
        buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: settings.scopes,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
          state,
          nonce
        }).toString()
      ),

    finish: (query: string, { nonce, state, verifier }: SignInSecrets) =>
      exchange(signInMs, async (configuration) => {
        const response = await authorizationCodeGrant(
          configuration,
          new URL(`${redirectUri}${query}`),
          {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true
          }
        )
        return personOf(configuration, response, response.claims()?.sub ?? "")
      }),

    findAgain: (token: Redacted.Redacted, subject: string) =>
      exchange(refreshMs, async (configuration) => {
        const response = await refreshTokenGrant(configuration, Redacted.value(token))
        return personOf(configuration, response, subject)
      }),

    revoke: (token: Redacted.Redacted) =>
      exchange(refreshMs, async (configuration) => {
        if (configuration.serverMetadata().revocation_endpoint === undefined) return
        await tokenRevocation(configuration, Redacted.value(token))
      })
  }
}

/**
 * Returns an authentication method that the provider accepts. A provider that lists no methods
 * accepts `client_secret_basic`, the default of the standard.
 */
const authenticationFor = (
  { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] }: ServerMetadata,
  secret: Redacted.Redacted | undefined
) => {
  if (secret === undefined) return None()
  return methods.includes("client_secret_basic")
    ? ClientSecretBasic(Redacted.value(secret))
    : ClientSecretPost(Redacted.value(secret))
}

const describePerson = (
  claims: Readonly<Record<string, unknown>> & { readonly sub: string },
  { emailVerifiedClaim, roleClaim }: OidcSettings,
  { refresh_token }: TokenEndpointResponse
): ProvidedPerson => {
  const { email, name, sub } = claims
  const verified = claims[emailVerifiedClaim]
  // Some providers send booleans as text or as a number.
  const isVerified = verified === true || ["true", "1"].includes(String(verified))
  return {
    subject: sub,
    email: isVerified && typeof email === "string" ? canonicalEmail(email) : undefined,
    name: typeof name === "string" && name.trim() !== "" ? name.trim().slice(0, 100) : undefined,
    roles: roleClaim === undefined ? [] : textsOf(claims[roleClaim]),
    refreshToken:
      refresh_token === undefined
        ? undefined
        : Redacted.make(refresh_token, { label: "refresh_token" })
  }
}

const textsOf = (claim: unknown): ReadonlyArray<string> =>
  (Array.isArray(claim) ? claim : [claim]).filter((value) => typeof value === "string")

const failureOf = (error: unknown): ProviderFailure => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderFetchError)
      return new ProviderUnavailable({ reason: cause.message })
  }
  const code = error instanceof Error && "error" in error ? String(error.error) : undefined
  const reasons: Array<string> = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) reasons.push(cause.message)
  const description = error instanceof ResponseBodyError ? error.error_description : undefined
  return new ProviderRejected({
    code,
    reason: [...reasons, code, description].filter((text) => text !== undefined).join(": ")
  })
}
