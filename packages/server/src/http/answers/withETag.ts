import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/**
 * Responds with a record and its version as the `ETag`, which a client sends back as `If-Match`.
 */
export const withETag = <Record extends { readonly version: number }, E, R>(
  record: Effect.Effect<Record, E, R>
) =>
  Effect.tap(record, ({ version }) =>
    HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "etag", `"${version}"`))
    )
  )
