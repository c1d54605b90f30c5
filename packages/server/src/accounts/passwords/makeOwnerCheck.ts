import { InvalidCredentials } from "@scheduling/domain/auth/AuthErrors"
import { type RateLimited, ValidationFailed } from "@scheduling/domain/shared/Errors"
import { DateTime, Effect, Option, type Redacted } from "effect"
import type { AppConfig } from "../../core/index.ts"
import type { Actor } from "../audit/currentActor.ts"
import type { SessionsRepo } from "../sessions/SessionsRepo.ts"
import type { Throttle } from "../throttle/Throttle.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import { makePasswordCheck } from "./makePasswordCheck.ts"
import type { Passwords } from "./Passwords.ts"

/**
 * How long after signing in an owner without a password can make protected changes without further
 * proof.
 */
const recentMs = 10 * 60 * 1000

/**
 * Creates a check that a change is made by the account's owner, not by someone with a stolen session.
 * Use it for sensitive changes, such as changes to the sign-in methods. It requires the password, or
 * a recent sign-in if the account has no password.
 */
export const makeOwnerCheck = (
  throttle: Throttle["Service"],
  passwords: Passwords["Service"],
  sessions: SessionsRepo["Service"],
  { passwordLogin }: Pick<AppConfig["Service"], "passwordLogin">
) => {
  const confirmPassword = makePasswordCheck(throttle, passwords)
  return Effect.fnUntraced(function* (
    user: UserRow,
    password: Redacted.Redacted | undefined,
    actor: Actor
  ): Effect.fn.Return<void, InvalidCredentials | RateLimited | ValidationFailed> {
    if (user.has_password && passwordLogin === "on") {
      if (password === undefined) return yield* passwordRequired
      yield* confirmPassword(user, password, actor)
      return
    }
    const session = Option.getOrUndefined(yield* sessions.find(actor.session_id))
    const now = yield* DateTime.nowAsDate
    if (session === undefined || now.getTime() - session.created_at.getTime() > recentMs) {
      return yield* new InvalidCredentials({ message: signInNeeded })
    }
  })
}

const passwordRequired = Effect.suspend(() =>
  ValidationFailed.at(["current_password"], "required", "is required")
)
const signInNeeded = "Your sign-in is more than 10 minutes old. Sign out, sign in again and retry."
