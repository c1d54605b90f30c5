import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"

/** One that is the same for everybody: compressed once, and known by its tag to who has it already. */
export interface ReadyAnswer {
  readonly to: (
    request: HttpServerRequest.HttpServerRequest
  ) => HttpServerResponse.HttpServerResponse
}

export const makeReadyAnswer = async (
  body: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>>
): Promise<ReadyAnswer> => {
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(body, { level: 9 })
  ])
  const bodies = { br, gzip: gzipped, identity: body }
  // Weak: one tag for all codings of it.
  const etag = `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`
  const always = { ...headers, etag, vary: "accept-encoding", "cache-control": "no-cache" }
  return {
    to: (request) => {
      if (isKnown(request.headers["if-none-match"], etag)) {
        return HttpServerResponse.empty({ status: 304, headers: always })
      }
      const coding = codingFor(request.headers["accept-encoding"])
      return HttpServerResponse.uint8Array(bodies[coding], {
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

/** The best coding that the client takes. One with `q=0` it does not. */
const codingFor = (acceptEncoding = ""): "br" | "gzip" | "identity" => {
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
