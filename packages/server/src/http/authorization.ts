import { NodeHttpServerRequest } from "@effect/platform-node"
import type { HttpServerRequest } from "effect/http"

/**
 * Returns the values of all `Authorization` headers. Node's parsed headers contain only the first
 * value, so the raw headers are read.
 */
export const authorizationHeaders = (
  request: HttpServerRequest.HttpServerRequest
): ReadonlyArray<string> => {
  const { rawHeaders } = NodeHttpServerRequest.toIncomingMessage(request)
  const values: Array<string> = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    const value = rawHeaders[index + 1]
    if (name?.length === header.length && value !== undefined && name.toLowerCase() === header)
      values.push(value)
  }
  return values
}

/** Returns the bearer token of an `Authorization` header, if any. */
export const bearerTokenOf = (header: string): string | undefined => bearer.exec(header)?.[1]

const header = "authorization"
const bearer = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i
