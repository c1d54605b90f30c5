import { Caller, type UserCaller } from "@scheduling/domain/auth/Caller"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { requestOrigin, type RequestOrigin } from "../platform/RequestOrigin.ts"

/** Who makes a change, and from where: what the audit log keeps. */
export interface Actor extends UserCaller {
  readonly origin: RequestOrigin
}

/** The user behind the request. On an endpoint for JWTs an API key never gets this far. */
export const currentActor: Effect.Effect<
  Actor,
  never,
  Caller | HttpServerRequest.HttpServerRequest
> = Effect.gen(function* () {
  const caller = yield* Caller
  if (caller.kind !== "jwt") {
    return yield* Effect.die(new Error("an endpoint that needs a user is not declared Access.jwt"))
  }
  return { ...caller, origin: yield* requestOrigin }
})
