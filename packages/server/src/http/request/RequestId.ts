import { NodeHttpServerRequest } from "@effect/platform-node"
import { secretPrefixes } from "@scheduling/domain/auth/secretPatterns"
import type { HttpServerRequest } from "effect/http"
import { randomBytes } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"

/**
 * Matches valid request ids. A request id is written to logs and to the audit log, so it must not
 * look like a secret.
 */
const validRequestId = new RegExp(`^(?!${secretPrefixes.join("|")})[A-Za-z0-9._:-]{1,128}$`)

const node = randomBytes(5).toString("hex")
let requests = 0

/**
 * The key of a property of the request. A property is used instead of a map, because a long-lived
 * map would move requests to the garbage collector's old generation.
 */
const requestIdKey = Symbol("the id of a request")

/**
 * Returns the client's `x-request-id` if it is valid, otherwise a generated one. It stays the same
 * for the whole request.
 */
export const requestId = (request: HttpServerRequest.HttpServerRequest): string =>
  requestIdOf(NodeHttpServerRequest.toIncomingMessage(request))

/** Like `requestId`, for a request as Node emits it. */
export const requestIdOf = (message: Identified): string =>
  (message[requestIdKey] ??= acceptedId(message) ?? nextRequestId())

export const nextRequestId = (): string => `${node}-${(requests++).toString(36)}`

interface Identified {
  readonly headers: IncomingHttpHeaders
  [requestIdKey]?: string
}

const acceptedId = ({ headers }: Identified): string | undefined => {
  const theirs = headers["x-request-id"]
  return typeof theirs === "string" && validRequestId.test(theirs) ? theirs : undefined
}
