import { HttpEffect, HttpMiddleware, HttpServerResponse } from "effect/http"
import { Effect } from "effect"

/**
 * Compresses JSON responses of more than a kilobyte if the client accepts it. Event streams are
 * sent event by event, and files are compressed at build time. A higher quality would cost more CPU
 * time than it saves.
 */
export const compressResponse = HttpMiddleware.compression({
  algorithms: ["br", "gzip"],
  minSize: 1_024,
  compressible: (contentType) => contentType.startsWith("application/json"),
  levels: { br: 4, gzip: 4 }
})

/**
 * Keeps a response that contains a secret uncompressed. If an attacker can choose a part of a
 * compressed response, its length reveals information about the secret. The header is removed
 * before the response is sent.
 */
export const preventCompression = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "content-encoding", "identity"))
)
