import { MalformedJson, PayloadTooLarge, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect, Stream } from "effect"
import { HttpMethod, type HttpServerRequest } from "effect/http"
import { uncountedBodyBytes, type Permit } from "../fairness/Capacity.ts"
import { withText } from "../../core/index.ts"
import { jsonBoundsOf, exceededJsonBound } from "./JsonBounds.ts"

const maxBodySize = 1024 * 1024

/**
 * Returns the request with these checks on its body, which run when the framework reads it:
 * - A body whose `content-length` is too large is rejected unread.
 * - A missing body becomes an empty object, so that a request with only optional fields needs none.
 * - Bytes that are not UTF-8 are rejected. The default would replace them by U+FFFD, which the
 *   client did not send.
 * - JSON larger than the contract needs is rejected before parsing.
 */
export const withCheckedBody = (
  request: HttpServerRequest.HttpServerRequest,
  permit: Permit
): HttpServerRequest.HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method)) return request
  const read = (bytes: ArrayBuffer | Buffer) =>
    Effect.flatMap(decode(bytes), (text) => withinBounds(text, request.url))
  const text = Effect.suspend(() => {
    if (lengthOf(request) > maxBodySize) return Effect.die(new PayloadTooLarge())
    if (isShortBody(request)) return Effect.flatMap(permit.waiting(request.arrayBuffer), read)
    return permit.longBody(readCounted(request, permit), read)
  })
  return withText(request, text)
}

/** Returns true for a body that is read without waiting for a turn. */
export const isShortBody = (request: HttpServerRequest.HttpServerRequest): boolean =>
  lengthOf(request) <= uncountedBodyBytes

/** Returns the length of the body. NaN for a chunked body, whose length is not known. */
const lengthOf = ({ headers }: HttpServerRequest.HttpServerRequest): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : NaN

const readCounted = (request: HttpServerRequest.HttpServerRequest, permit: Permit) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  return Effect.map(
    Stream.runForEach(request.stream, (chunk) => {
      chunks.push(chunk)
      size += chunk.length
      return size > maxBodySize ? Effect.die(new PayloadTooLarge()) : permit.take(chunk.length)
    }),
    () => Buffer.concat(chunks)
  )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decode = (bytes: ArrayBuffer | Buffer) =>
  Effect.try({
    try: () => (bytes.byteLength === 0 ? "{}" : utf8.decode(bytes)),
    catch: () => new MalformedJson()
  }).pipe(Effect.orDie)

const withinBounds = (text: string, url: string): Effect.Effect<string> => {
  const problem = exceededJsonBound(text, jsonBoundsOf(url))
  return problem === undefined
    ? Effect.succeed(text)
    : Effect.die(ValidationFailed.at([], "too_many", problem, "The body"))
}
