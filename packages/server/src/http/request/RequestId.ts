import { NodeHttpServerRequest } from "@effect/platform-node"
import type { HttpServerRequest } from "effect/http"
import { randomBytes } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

/** The id goes into logs and the audit log, so it must not look like an API key or a JWT. */
const sane = /^(?!pak_|eyJ)[A-Za-z0-9._:-]{1,128}$/

const node = randomBytes(5).toString("hex")
let requests = 0

const ids = new WeakMap<object, string>()

/**
 * The client's `x-request-id` if it is acceptable, otherwise ours. It stays the same for the whole
 * request.
 */
export const requestId = (request: HttpServerRequest.HttpServerRequest): string =>
  messageId(NodeHttpServerRequest.toIncomingMessage(request))

export const messageId = (message: { readonly headers: IncomingHttpHeaders }): string => {
  const known = ids.get(message)
  if (known !== undefined) return known
  const theirs = message.headers["x-request-id"]
  const id = typeof theirs === "string" && sane.test(theirs) ? theirs : nextRequestId()
  ids.set(message, id)
  return id
}

export const nextRequestId = (): string => `${node}-${(requests++).toString(36)}`
