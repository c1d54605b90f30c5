import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"

/**
 * Checks whether a request used HTTPS, according to the operator's settings or a trusted proxy. A
 * header of the client itself does not count.
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
