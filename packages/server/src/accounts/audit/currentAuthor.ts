import { Principal } from "@scheduling/domain/auth/Principal"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { requestOrigin, type RequestOrigin } from "../../http/index.ts"

/** The user or the API key that makes a change. The details of the event name the key. */
export interface Author {
  readonly actor_id: UserId | null
  readonly api_key_id: string | null
  readonly origin: RequestOrigin
}

export const currentAuthor: Effect.Effect<
  Author,
  never,
  Principal | HttpServerRequest.HttpServerRequest
> = Effect.gen(function* () {
  const principal = yield* Principal
  const origin = yield* requestOrigin
  return principal.kind === "jwt"
    ? { actor_id: principal.user_id, api_key_id: null, origin }
    : { actor_id: null, api_key_id: principal.api_key_id, origin }
})
