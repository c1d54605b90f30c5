import { Principal, type UserPrincipal } from "@scheduling/domain/auth/Principal"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { requestOrigin, type RequestOrigin } from "../../http/index.ts"

/** The user or service account that makes a change, with its address, for the audit log. */
export interface Actor extends Omit<UserPrincipal, "lane" | "name" | "role" | "service_account"> {
  readonly origin: RequestOrigin
}

/**
 * Returns the user or service account that made the request. Endpoints that require a JWT have
 * already rejected API keys.
 */
export const currentActor: Effect.Effect<
  Actor,
  never,
  Principal | HttpServerRequest.HttpServerRequest
> = Effect.gen(function* () {
  const principal = yield* Principal
  if (principal.kind !== "jwt") {
    return yield* Effect.die(new Error("an endpoint that needs a user is not declared Access.jwt"))
  }
  const { kind, session_id, user_id } = principal
  return { kind, user_id, session_id, origin: yield* requestOrigin }
})
