import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { requestId } from "./RequestId.ts"

/** The client's address and user agent, for sessions, throttles and the audit log. */
export interface RequestOrigin {
  readonly ip: string | null
  readonly user_agent: string | null
  readonly request_id: string
}

/** Returns the client's address and user agent of this request. */
export const originOf = (request: HttpServerRequest.HttpServerRequest): RequestOrigin => ({
  ip: Option.getOrNull(request.remoteAddress),
  user_agent: request.headers["user-agent"]?.slice(0, 500) ?? null,
  request_id: requestId(request)
})

export const requestOrigin: Effect.Effect<
  RequestOrigin,
  never,
  HttpServerRequest.HttpServerRequest
> = Effect.map(HttpServerRequest.HttpServerRequest, originOf)
