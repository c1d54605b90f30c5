import { HttpEffect, HttpMiddleware, HttpServerResponse } from "effect/http"
import { Effect } from "effect"

/**
 * Compresses an answer of more than a kilobyte for clients that accept it. Only JSON: event streams
 * are sent event by event, and files were compressed when they were built. A higher quality costs
 * more processor time than it saves on the way.
 */
export const compressed = HttpMiddleware.compression({
  algorithms: ["br", "gzip"],
  minSize: 1_024,
  compressible: (contentType) => contentType.startsWith("application/json"),
  levels: { br: 4, gzip: 4 }
})

/**
 * For answers to GET that carry a secret. Beside something that somebody else chose, the length of a
 * compressed answer tells about the secret. The header is taken out before the answer is sent.
 */
export const uncompressed = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "content-encoding", "identity"))
)
