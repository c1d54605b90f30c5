import { InvalidCredentials } from "@scheduling/domain/auth/AuthErrors"
import type { RateLimited } from "@scheduling/domain/shared/Errors"
import { Effect, type Redacted } from "effect"
import type { Actor } from "../audit/currentActor.ts"
import type { Throttle } from "../throttle/Throttle.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import type { Passwords } from "./Passwords.ts"

/** Creates a password check, for actions that must not be possible with a stolen token. */
export const makePasswordCheck =
  (throttle: Throttle["Service"], passwords: Passwords["Service"]) =>
  (
    row: UserRow,
    password: Redacted.Redacted,
    { origin }: Actor
  ): Effect.Effect<boolean, InvalidCredentials | RateLimited> =>
    throttle.guard(
      { account: row.email, ip: origin.ip },
      Effect.filterOrFail(
        passwords.verify(password, row.password_hash, origin.ip),
        (matches) => matches,
        () => new InvalidCredentials()
      )
    )
