import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"

/**
 * Returns whether a request used HTTPS, according to the operator's settings or to a trusted proxy.
 * A header that the client has set itself does not count.
 */
export const isHttpsRequest = Effect.map(
  AppConfig,
  ({ publicUrl, trustProxy }) =>
    (request: HttpServerRequest.HttpServerRequest): boolean => {
      if (publicUrl?.startsWith("https:") === true) return true
      if (trustProxy.length === 0) return false
      const url = HttpServerRequest.toURL(request)
      return Option.exists(url, ({ protocol }) => protocol === "https:")
    }
)
