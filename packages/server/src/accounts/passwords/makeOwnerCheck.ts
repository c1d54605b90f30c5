import { InvalidCredentials } from "@scheduling/domain/auth/AuthErrors"
import type { RateLimited } from "@scheduling/domain/shared/Errors"
import { DateTime, Effect, Option, type Redacted } from "effect"
import type { Actor } from "../audit/currentActor.ts"
import type { SessionsRepo } from "../sessions/SessionsRepo.ts"
import type { Throttle } from "../throttle/Throttle.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import { makePasswordCheck } from "./makePasswordCheck.ts"
import type { Passwords } from "./Passwords.ts"

/** How long after a sign-in an account without a password needs no other proof. */
const recentMs = 10 * 60 * 1000

/**
 * Creates a check of the owner for changes of the ways to sign in, which a stolen session must not
 * allow. An account without a password proves its owner by a recent sign-in.
 */
export const makeOwnerCheck = (
  throttle: Throttle["Service"],
  passwords: Passwords["Service"],
  sessions: SessionsRepo["Service"]
) => {
  const confirmPassword = makePasswordCheck(throttle, passwords)
  return Effect.fnUntraced(function* (
    user: UserRow,
    password: Redacted.Redacted | undefined,
    actor: Actor
  ): Effect.fn.Return<void, InvalidCredentials | RateLimited> {
    if (user.has_password) {
      if (password === undefined) return yield* new InvalidCredentials({ message: passwordNeeded })
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

const passwordNeeded = "Your current password is required."
const signInNeeded = "Your sign-in is more than 10 minutes old. Sign out, sign in again and retry."
