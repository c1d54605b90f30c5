import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"
import { isHttpsRequest } from "./isHttpsRequest.ts"

/**
 * Returns the base of the URLs that a response shows. Without `PUBLIC_URL`, it is the base of the
 * request's own URL, which a job can probably reach too.
 */
export const requestBaseUrl = Effect.gen(function* () {
  const { publicUrl } = yield* AppConfig
  const isHttps = yield* isHttpsRequest
  return Effect.map(
    HttpServerRequest.HttpServerRequest,
    (request) =>
      publicUrl ??
      `${isHttps(request) ? "https" : "http"}://${request.headers["host"] ?? "localhost"}`
  )
})
