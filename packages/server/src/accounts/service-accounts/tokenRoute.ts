import { tokenPath } from "@scheduling/domain/service-accounts/ServiceAccount"
import { Effect, Redacted, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { authorizationHeaders, requestOrigin, preventCompression } from "../../http/index.ts"
import { readTokenRequest, type TokenRefusal } from "./readTokenRequest.ts"
import { ServiceAccounts } from "./ServiceAccounts.ts"

/**
 * The token endpoint of OAuth 2.0. It follows RFC 6749 rather than the conventions of the other
 * endpoints, so that the OAuth clients of every language work.
 */
export const tokenRouteLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const serviceAccounts = yield* ServiceAccounts
    yield* router.add(
      "POST",
      tokenPath,
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const client = readTokenRequest({
          contentType: request.headers["content-type"] ?? "",
          authorization: authorizationHeaders(request),
          body: yield* request.text
        })
        if (Result.isFailure(client)) return refuse(client.failure)
        yield* preventCompression
        const { access_token, expires_in } = yield* serviceAccounts.issueToken(
          client.success,
          yield* requestOrigin
        )
        return HttpServerResponse.jsonUnsafe(
          { access_token: Redacted.value(access_token), token_type: "Bearer", expires_in },
          { headers: notStored }
        )
      }).pipe(
        Effect.catchTags({
          InvalidClient: () =>
            Effect.succeed(
              refuse({
                error: "invalid_client",
                error_description:
                  "The client_id is unknown, or the client_secret is wrong or has been replaced."
              })
            ),
          RateLimited: ({ message, retry_after }) =>
            Effect.succeed(
              HttpServerResponse.jsonUnsafe(
                { error: "temporarily_unavailable", error_description: message },
                { status: 429, headers: { ...notStored, "retry-after": String(retry_after) } }
              )
            )
        })
      )
    )
  })
)

const notStored = { "cache-control": "no-store", pragma: "no-cache" }

const refuse = (refusal: TokenRefusal) =>
  HttpServerResponse.jsonUnsafe(
    refusal,
    refusal.error === "invalid_client"
      ? {
          status: 401,
          headers: { ...notStored, "www-authenticate": 'Basic realm="scheduling-service"' }
        }
      : { status: 400, headers: notStored }
  )
