import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ProviderLogins, type SignInSecrets } from "../accounts/index.ts"
import { AppConfig, sealExpiringValue, Secrets, unsealExpiringValue } from "../core/index.ts"
import { panelOidcCallbackPath, panelOidcPath, requestOrigin } from "../http/index.ts"
import { readJsonBodyAs, rejectOtherPages, requestHeaders } from "./pageRequests.ts"
import {
  readSignInSecrets,
  sessionCookie,
  signInCookie,
  signInCookieKey,
  signInTimeoutSeconds
} from "./sessionCookie.ts"

/**
 * Signs people in at the identity provider. The browser keeps the encrypted secrets of the sign-in
 * in a cookie until it returns, so nobody can complete a sign-in that another browser began.
 */
export const oidcRoutesLayer: Layer.Layer<
  never,
  never,
  AppConfig | HttpRouter.HttpRouter | ProviderLogins | Secrets
> = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl = "" } = yield* AppConfig
    const logins = yield* ProviderLogins
    const ring = (yield* Secrets).keys("provider-sign-in")
    const isSecure = publicUrl.startsWith("https:")
    const address = URL.canParse(publicUrl) ? new URL(publicUrl).origin : undefined

    const begin = Effect.gen(function* () {
      const { next } = yield* readJsonBodyAs(SignInStart)
      // The provider sends the browser back to the address in `PUBLIC_URL`. A cookie that was set
      // at another address would not be sent there.
      if (logins.name !== undefined && (yield* requestHeaders)["origin"] !== address) {
        return problemResponse("other_address")
      }
      const { secrets, url } = yield* logins.begin(yield* requestOrigin)
      const until = (yield* Clock.currentTimeMillis) + signInTimeoutSeconds * 1000
      const kept = sealExpiringValue(ring, context, { ...secrets, next }, until)
      return HttpServerResponse.jsonUnsafe(
        { url },
        { headers: { ...notStored, "set-cookie": signInCookie(kept, isSecure) } }
      )
    }).pipe(
      Effect.catchTags({
        ProviderUnavailable: ({ reason }) => problemOf("provider_unavailable", reason),
        ProviderRejected: ({ reason }) => problemOf("provider_rejected", reason),
        ProviderSignInRefused: ({ problem }) => problemOf(problem),
        RateLimited: () => problemOf("too_many")
      }),
      Effect.map((response) =>
        typeof response === "string" ? problemResponse(response) : response
      )
    )

    const readKept = Effect.gen(function* () {
      const text = readSignInSecrets((yield* requestHeaders)["cookie"], isSecure)
      const now = yield* Clock.currentTimeMillis
      return text === undefined
        ? undefined
        : unsealExpiringValue<KeptSignIn>(ring, context, text, now)
    })

    const finish = Effect.gen(function* () {
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const kept = yield* readKept
      if (kept === undefined) return redirect("/sign-in?problem=expired")
      const query = url.slice(panelOidcCallbackPath.length)
      const tokens = yield* logins.finish(query, kept, yield* requestOrigin).pipe(
        Effect.catchTags({
          ProviderUnavailable: ({ reason }) => problemOf("provider_unavailable", reason),
          ProviderRejected: ({ code, reason }) =>
            problemOf(code === "access_denied" ? "denied" : "provider_rejected", reason),
          ProviderSignInRefused: ({ problem }) => problemOf(problem),
          RateLimited: () => problemOf("too_many")
        })
      )
      if (typeof tokens === "string") {
        const next = kept.next === undefined ? "" : `&next=${encodeURIComponent(kept.next)}`
        return redirect(`/sign-in?problem=${tokens}${next}`)
      }
      const cookie = sessionCookie(Redacted.value(tokens.refresh_token), isSecure)
      return HttpServerResponse.setHeader(redirect(kept.next ?? "/"), "set-cookie", cookie)
    }).pipe(
      // The cookie is removed even if the sign-in fails, because its secrets can be used only once.
      Effect.map((response) =>
        HttpServerResponse.expireCookieUnsafe(response, ...signInCookieKey(isSecure))
      )
    )

    return Layer.merge(
      HttpRouter.add("POST", panelOidcPath, rejectOtherPages(begin)),
      HttpRouter.add("GET", panelOidcCallbackPath, finish)
    )
  })
)

const context = "sign-in"

interface KeptSignIn extends SignInSecrets {
  readonly next?: string
}

/**
 * The page of the panel that opens after the sign-in. `//evil.example` is rejected, because the
 * browser would open another site.
 */
const SignInStart = Schema.Struct({
  next: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(1000), Schema.isPattern(/^\/(?![/\\])[\x21-\x7e]*$/))
  )
})

const notStored = { "cache-control": "no-store", "referrer-policy": "no-referrer" }

const redirect = (location: string) =>
  HttpServerResponse.empty({ status: 303, headers: { ...notStored, location } })

const problemResponse = (problem: string) =>
  HttpServerResponse.jsonUnsafe({ problem }, { headers: notStored })

/**
 * Logs the cause of a problem for the operator, and returns the problem. The person who signs in
 * sees only what to do.
 */
const problemOf = (problem: string, reason?: string) =>
  Effect.as(
    Effect.annotateLogs(Effect.logInfo("a sign-in at the identity provider failed"), {
      problem,
      ...(reason !== undefined && { reason })
    }),
    problem
  )
