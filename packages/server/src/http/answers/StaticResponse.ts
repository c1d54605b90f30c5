import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"

/**
 * A response that is the same for all clients. It is compressed once, and its ETag lets clients
 * cache it.
 */
export interface StaticResponse {
  readonly to: (
    request: HttpServerRequest.HttpServerRequest
  ) => HttpServerResponse.HttpServerResponse
}

export const makeStaticResponse = async (
  body: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>>,
  /** The compression level, from 1 (fast) to 9 (small). */
  quality = 9
): Promise<StaticResponse> => {
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    promisify(gzip)(body, { level: quality })
  ])
  return precompressedResponse({ br, gzip: gzipped, identity: body }, contentType, headers)
}

type Coding = "br" | "gzip" | "identity"

/** Creates the response from bodies that need no further compression. */
export const precompressedResponse = (
  bodies: Readonly<Partial<Record<Coding, Uint8Array>>> & { readonly identity: Uint8Array },
  contentType: string,
  headers: Readonly<Record<string, string>>
): StaticResponse => {
  // The ETag is weak, because all encodings share it.
  const hash = createHash("sha256").update(bodies.identity).digest("base64url")
  const etag = `W/"${hash.slice(0, 22)}"`
  const always = { "cache-control": "no-cache", ...headers, etag, vary: "accept-encoding" }
  return {
    to: (request) => {
      if (isKnown(request.headers["if-none-match"], etag)) {
        return HttpServerResponse.empty({ status: 304, headers: always })
      }
      const accepted = codingFor(request.headers["accept-encoding"])
      const coding = bodies[accepted] === undefined ? "identity" : accepted
      return HttpServerResponse.uint8Array(bodies[coding] ?? bodies.identity, {
        contentType,
        headers: coding === "identity" ? always : { ...always, "content-encoding": coding }
      })
    }
  }
}

const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  ifNoneMatch
    .split(",")
    .some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag.slice(2))

/** Returns the best encoding that the client accepts. `q=0` excludes an encoding. */
const codingFor = (acceptEncoding = ""): Coding => {
  const accepted = new Set(
    acceptEncoding
      .toLowerCase()
      .split(",")
      .map((coding) => coding.split(";").map((part) => part.trim()))
      .filter(([, quality = "q=1"]) => !/^q=0(?:\.0*)?$/.test(quality))
      .map(([name]) => name)
  )
  return accepted.has("br") ? "br" : accepted.has("gzip") ? "gzip" : "identity"
}
