import { MalformedJson, PayloadTooLarge } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import { HttpMethod, type HttpServerRequest } from "effect/http"

export const maxBodySize = 1024 * 1024

/**
 * The request, refusing its body where the framework would take it: one too long by its own word is
 * refused unread; none is an empty object, so that fields that are all optional need no body; and
 * bytes that are no UTF-8 are refused rather than replaced by U+FFFD, which nobody sent.
 */
export const withCheckedBody = (
  request: HttpServerRequest.HttpServerRequest
): HttpServerRequest.HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method)) return request
  const text = Effect.suspend(() =>
    Number(request.headers["content-length"]) > maxBodySize
      ? Effect.die(new PayloadTooLarge())
      : Effect.flatMap(request.arrayBuffer, decode)
  )
  return Object.create(request, { text: { value: text } })
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decode = (bytes: ArrayBuffer) =>
  Effect.try({
    try: () => (bytes.byteLength === 0 ? "{}" : utf8.decode(bytes)),
    catch: () => new MalformedJson()
  }).pipe(Effect.orDie)
