import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"

/**
 * Finds out whether a request came by HTTPS, from the settings of the operator or from a trusted
 * proxy. The word of the client does not count.
 */
export const httpsCheck = Effect.map(
  AppConfig,
  ({ publicUrl, trustProxy }) =>
    (request: HttpServerRequest.HttpServerRequest): boolean => {
      if (publicUrl?.startsWith("https:") === true) return true
      if (trustProxy.length === 0) return false
      const url = HttpServerRequest.toURL(request)
      return Option.exists(url, ({ protocol }) => protocol === "https:")
    }
)
