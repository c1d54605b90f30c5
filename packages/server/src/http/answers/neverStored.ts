import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/** For answers that carry a secret: no cache on the way may keep them. */
export const neverStored = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
)
