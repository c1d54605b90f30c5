import { MalformedJson, PayloadTooLarge, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect, Stream } from "effect"
import { HttpMethod, type HttpServerError, type HttpServerRequest } from "effect/http"
import { freeBytes, type Place } from "./Capacity.ts"

const maxBodySize = 1024 * 1024

/** More than the 3,050 of a chain with all the steps and headers that it may have. */
const maxFields = 5_000

/**
 * The request, refusing its body where the framework would take it: one too long by its own word is
 * refused unread; none is an empty object, so that fields that are all optional need no body; bytes
 * that are no UTF-8 are refused rather than replaced by U+FFFD, which nobody sent; and of 100,000
 * unknown fields, which anybody may send, the framework would make as many complaints in 0.3 s.
 */
export const withCheckedBody = (
  request: HttpServerRequest.HttpServerRequest,
  place: Place
): HttpServerRequest.HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method)) return request
  const text = Effect.suspend(() => {
    const length = lengthOf(request)
    if (length > maxBodySize) return Effect.die(new PayloadTooLarge())
    const bytes: Effect.Effect<ArrayBuffer | Buffer, HttpServerError.HttpServerError> =
      length <= freeBytes ? request.arrayBuffer : readCounted(request, place)
    return Effect.flatMap(Effect.flatMap(place.waiting(bytes), decode), withFewFields)
  })
  return Object.create(request, { text: { value: text } })
}

/** Of a body in chunks nobody knows it. */
const lengthOf = ({ headers }: HttpServerRequest.HttpServerRequest): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : NaN

const readCounted = (request: HttpServerRequest.HttpServerRequest, place: Place) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  return Effect.map(
    Stream.runForEach(request.stream, (chunk) => {
      chunks.push(chunk)
      size += chunk.length
      return size > maxBodySize ? Effect.die(new PayloadTooLarge()) : place.take(chunk.length)
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

const withFewFields = (text: string): Effect.Effect<string> =>
  text.length <= freeBytes || hasAtMost(maxFields, text)
    ? Effect.succeed(text)
    : Effect.die(isJson(text) ? tooManyFields() : new MalformedJson())

const tooManyFields = () =>
  new ValidationFailed({
    issues: [{ path: [], message: `Expected at most ${maxFields} fields in all` }]
  })

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Counts the strings that a colon follows, which in JSON are the names of fields. */
const hasAtMost = (fields: number, text: string): boolean => {
  const colon = /[ \t\r\n]*:/y
  let found = 0
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', colon.lastIndex)) {
    const end = endOfString(text, start)
    colon.lastIndex = end
    if (colon.test(text)) found++
    else colon.lastIndex = end
    if (found > fields) return false
  }
  return true
}

const endOfString = (text: string, start: number): number => {
  for (
    let quote = text.indexOf('"', start + 1);
    quote !== -1;
    quote = text.indexOf('"', quote + 1)
  ) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === "\\") backslashes++
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}
