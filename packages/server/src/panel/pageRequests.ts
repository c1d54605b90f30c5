import { InvalidRefreshToken } from "@scheduling/domain/auth/AuthErrors"
import type { TokenPair } from "@scheduling/domain/auth/TokenPair"
import {
  isApiFailure,
  MalformedJson,
  OriginRefused,
  UnsupportedMediaType,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { Effect, Redacted, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Logins } from "../accounts/index.ts"
import { issuesIn, requestOrigin, respondWithError } from "../http/index.ts"
import { isOnHttps, isFromOwnPage, readSessionToken, sessionCookie } from "./sessionCookie.ts"

export const requestHeaders = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => headers
)

/** Returns the refresh token in the session cookie, if any. */
export const sessionTokenOfCookie = Effect.map(requestHeaders, (headers) => {
  const token = readSessionToken(headers["cookie"], isOnHttps(headers))
  return token === undefined ? undefined : Redacted.make(token, { label: "refresh_token" })
})

/** Returns the user of the session cookie. */
export const actorOfCookie = (logins: Logins["Service"]) =>
  Effect.gen(function* () {
    const token = (yield* sessionTokenOfCookie) ?? Redacted.make("")
    return yield* logins.findActor(token, yield* requestOrigin)
  })

/** Stores the refresh token in the session cookie, or removes the cookie if there is no token. */
export const withSessionCookie = (
  response: HttpServerResponse.HttpServerResponse,
  token: string | undefined
) =>
  Effect.map(requestHeaders, (headers) =>
    HttpServerResponse.setHeader(response, "set-cookie", sessionCookie(token, isOnHttps(headers)))
  )

export const respondWithTokens = ({
  access_token,
  expires_in,
  refresh_token,
  token_type
}: TokenPair) =>
  withSessionCookie(
    HttpServerResponse.jsonUnsafe(
      { access_token: Redacted.value(access_token), token_type, expires_in },
      { headers: { "cache-control": "no-store" } }
    ),
    Redacted.value(refresh_token)
  )

/**
 * Rejects requests from other pages, turns failures into responses, and removes an invalid cookie.
 */
export const rejectOtherPages = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.flatMap(requestHeaders, (headers) =>
    isFromOwnPage(headers) ? answer : respondWithError(new OriginRefused())
  ).pipe(
    Effect.catch((error) => {
      if (!isApiFailure(error)) return Effect.die(error)
      return Effect.flatMap(respondWithError(error), (response) =>
        error instanceof InvalidRefreshToken
          ? withSessionCookie(response, undefined)
          : Effect.succeed(response)
      )
    })
  )

/** Reads a JSON body. Fails if it has another content type or does not match the schema. */
export const readJsonBodyAs = <A, I>(schema: Schema.Codec<A, I>) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
      return yield* new UnsupportedMediaType()
    }
    const text = yield* Effect.orDie(request.text)
    const json = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => new MalformedJson()
    })
    return yield* Effect.mapError(
      Schema.decodeUnknownEffect(schema, {
        errors: "all",
        onExcessProperty: "error",
        reportInput: true
      })(json),
      ({ issue }) => new ValidationFailed({ issues: issuesIn(issue) })
    )
  })
