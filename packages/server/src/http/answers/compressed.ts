import { HttpEffect, HttpMiddleware, HttpServerResponse } from "effect/http"
import { Effect } from "effect"

/**
 * Compresses JSON answers of more than a kilobyte for clients that accept it. Event streams are
 * sent event by event, and files are compressed when they are built. A higher quality costs more
 * processor time than it saves.
 */
export const compressed = HttpMiddleware.compression({
  algorithms: ["br", "gzip"],
  minSize: 1_024,
  compressible: (contentType) => contentType.startsWith("application/json"),
  levels: { br: 4, gzip: 4 }
})

/**
 * Keeps an answer with a secret uncompressed. If somebody else can choose a part of a compressed
 * answer, its length reveals something about the secret. The header is removed before the answer is
 * sent.
 */
export const uncompressed = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "content-encoding", "identity"))
)
