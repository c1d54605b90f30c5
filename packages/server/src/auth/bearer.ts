import { apiKeyPrefix } from "@scheduling/domain/api-keys/ApiKey"
import { NodeHttpServerRequest } from "@effect/platform-node"
import type { HttpServerRequest } from "effect/http"

export type Credential =
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly isKey: boolean }
  | { readonly kind: "api_key"; readonly key: string }
  | { readonly kind: "jwt"; readonly token: string }

/** Exactly one `Authorization` header with exactly one token; the prefix tells a key from a JWT. */
export const parseBearer = (headers: ReadonlyArray<string>): Credential => {
  const [header, ...others] = headers
  if (header === undefined) return { kind: "none" }
  const token = bearer.exec(header)?.[1]
  if (token === undefined || others.length > 0) {
    return { kind: "malformed", isKey: headers.some((text) => keyLike.test(text)) }
  }
  return token.startsWith(apiKeyPrefix) ? { kind: "api_key", key: token } : { kind: "jwt", token }
}

/** From the raw headers: Node keeps only the first of two in its parsed ones. */
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

const header = "authorization"
const bearer = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i
const keyLike = /^\s*bearer\s+pak_/i
