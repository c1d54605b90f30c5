import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/** The answer carries a secret: no cache on the way may keep it. */
export const neverStored = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
)
