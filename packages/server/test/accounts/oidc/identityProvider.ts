import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { ProviderTimeouts } from "../../../src/accounts/oidc/IdentityProvider.ts"
import type { AppConfig, OidcSettings } from "../../../src/core/index.ts"
import { ask, type Answer } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import {
  clientId,
  clientSecret,
  type Intercept,
  type ProviderUser,
  startProvider
} from "./startProvider.ts"

export const publicUrl = "https://scheduling.test"
/** An identity provider on a real socket, based on `oidc-provider`. */
export class TestProvider extends Context.Service<
  TestProvider,
  {
    readonly issuer: string
    /** The people known to the provider, by subject. */
    readonly people: Map<string, ProviderUser>
    /** Replaces the provider's signing key. */
    readonly rotateKeys: Effect.Effect<void>
    /** Signs an ID token with any claims, as the provider does. */
    readonly sign: (
      claims: Readonly<Record<string, unknown>>,
      header?: Readonly<Record<string, unknown>>
    ) => Effect.Effect<string>
    /** Uses a different handler for some requests while the effect runs. */
    readonly during: <A, E, R>(
      intercept: Intercept,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
    /** The paths of the requests that the provider has received. */
    readonly requests: Array<string>
  }
>()("@scheduling/server/test/TestProvider") {}

export const TestProviderLayer = Layer.effect(
  TestProvider,
  Effect.gen(function* () {
    const { interceptors, issuer, people, requests, rotateKeys, sign, stop } =
      yield* Effect.promise(() => startProvider(publicUrl))
    yield* Effect.addFinalizer(() => Effect.sync(stop))
    return TestProvider.of({
      issuer,
      people,
      requests,
      rotateKeys: Effect.promise(rotateKeys),
      sign: (claims, header) => Effect.promise(() => sign(claims, header)),
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

/** Starts a node with its own identity provider. */
export const nodeWithProviderLayer = (
  settings: Partial<OidcSettings> = {},
  config: Partial<AppConfig["Service"]> = {}
) =>
  Layer.unwrap(
    Effect.map(TestProvider, ({ issuer }) =>
      testAppLayer({ publicUrl, oidc: { ...oidcSettings(issuer), ...settings }, ...config })
    )
  ).pipe(
    Layer.provide(Layer.succeed(ProviderTimeouts, { signInMs: 2_000, refreshMs: 2_000 })),
    Layer.provideMerge(TestProviderLayer)
  )

/** The headers that the panel's own page sends. */
export const panelPageHeaders = {
  origin: publicUrl,
  "sec-fetch-site": "same-origin",
  "x-panel": "1"
}

/** Starts a sign-in as the panel does. Returns the provider's URL and the browser's cookie. */
export const beginSignIn = Effect.fnUntraced(function* (
  body: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {}
) {
  const begun = yield* ask("POST", "/panel/oidc", {
    body,
    headers: { ...panelPageHeaders, ...headers }
  })
  return {
    answer: begun,
    url: String(begun.body?.url),
    cookie: begun.headers.get("set-cookie")?.split(";")[0] ?? ""
  }
})

/**
 * Signs a person in at the provider. Returns the URL that the provider redirects the browser to.
 */
export const signInAtProvider = (url: string, subject: string) =>
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

/** Follows the provider's redirect back to the node. */
export const followRedirectBack = (path: string, cookie: string) =>
  ask("GET", path, { headers: { cookie, "sec-fetch-site": "cross-site" } })

export const signInAs = Effect.fnUntraced(function* (
  subject: string,
  body: Readonly<Record<string, unknown>> = {}
) {
  const { cookie, url } = yield* beginSignIn(body)
  return yield* followRedirectBack(yield* signInAtProvider(url, subject), cookie)
})

/** Returns the address that the browser is redirected to after it returns from the provider. */
export const destinationOf = ({ headers, status, text }: Answer) => {
  assert.strictEqual(status, 303, text)
  return headers.get("location")
}

export const sessionCookieOf = ({ headers }: Answer) =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith("__Host-panel_session="))
    ?.split(";")[0] ?? ""

/** Refreshes the panel's session, as the panel does when it is opened. */
export const refreshPanelSession = (cookie: string) =>
  ask("PUT", "/panel/session", { headers: { ...panelPageHeaders, cookie } })

/** Adds a person with a new, verified email address to the provider. */
export const addProviderUser = Effect.fnUntraced(function* (person: ProviderUser = {}) {
  const { people } = yield* TestProvider
  const subject = randomUUID()
  const email = `${subject}@example.com`
  people.set(subject, { email, email_verified: true, name: "Ada Lovelace", ...person })
  return { subject, email: person.email ?? email }
})
