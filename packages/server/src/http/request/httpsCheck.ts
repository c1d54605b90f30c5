import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"

/**
 * Whether a request reached us by HTTPS, according to the operator's settings or to a trusted
 * proxy. The client itself is not believed.
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
