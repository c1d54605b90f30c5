import { apiKeyPrefix } from "@scheduling/domain/api-keys/ApiKey"
import { bearerTokenOf } from "../../http/index.ts"

export type Credential =
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly isKey: boolean }
  | { readonly kind: "api_key"; readonly key: string }
  | { readonly kind: "jwt"; readonly token: string }

/**
 * Reads a request's credential. The request must have exactly one `Authorization` header with one
 * token. The token's prefix distinguishes API keys from JWTs.
 */
export const parseBearer = (headers: ReadonlyArray<string>): Credential => {
  const [header, ...others] = headers
  if (header === undefined) return { kind: "none" }
  const token = bearerTokenOf(header)
  if (token === undefined || others.length > 0) {
    return { kind: "malformed", isKey: headers.some((text) => keyLike.test(text)) }
  }
  return token.startsWith(apiKeyPrefix) ? { kind: "api_key", key: token } : { kind: "jwt", token }
}

const keyLike = new RegExp(`^\\s*bearer\\s+${apiKeyPrefix}`, "i")
