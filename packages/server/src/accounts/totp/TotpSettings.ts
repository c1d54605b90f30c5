import {
  InvalidCode,
  type InvalidCredentials,
  type InvalidToken
} from "@scheduling/domain/auth/AuthErrors"
import type { RecoveryCodes, TotpSecret, TotpStatus } from "@scheduling/domain/auth/Totp"
import { Conflict, type RateLimited } from "@scheduling/domain/shared/Errors"
import { Context, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountAction, AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../audit/currentActor.ts"
import { transactionOf } from "../../store/index.ts"
import { Throttle } from "../throttle/Throttle.ts"
import { findTokenUser } from "../users/findTokenUser.ts"
import { UsersRepo } from "../users/UsersRepo.ts"
import { AccountChangeMails } from "../auth/AccountChangeMails.ts"
import { makePasswordCheck } from "../passwords/makePasswordCheck.ts"
import { Passwords } from "../passwords/Passwords.ts"
import { SecondFactors } from "./SecondFactors.ts"

export class TotpSettings extends Context.Service<
  TotpSettings,
  {
    readonly get: (actor: Actor) => Effect.Effect<TotpStatus>
    readonly start: (
      actor: Actor,
      password: Redacted.Redacted
    ) => Effect.Effect<TotpSecret, Conflict | InvalidCredentials | InvalidToken | RateLimited>
    readonly confirm: (
      actor: Actor,
      code: Redacted.Redacted
    ) => Effect.Effect<RecoveryCodes, Conflict | InvalidCode | InvalidToken | RateLimited>
    readonly remove: (
      actor: Actor,
      proof: {
        readonly current_password: Redacted.Redacted
        readonly code: Redacted.Redacted
      }
    ) => Effect.Effect<
      void,
      Conflict | InvalidCode | InvalidCredentials | InvalidToken | RateLimited
    >
  }
>()("@scheduling/server/accounts/totp/TotpSettings") {
  static readonly layer: Layer.Layer<
    TotpSettings,
    never,
    | AuditLog
    | AccountChangeMails
    | Passwords
    | SecondFactors
    | SqlClient.SqlClient
    | Throttle
    | UsersRepo
  > = Layer.effect(
    TotpSettings,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const changeMails = yield* AccountChangeMails
      const factors = yield* SecondFactors
      const throttle = yield* Throttle
      const users = yield* UsersRepo
      const confirmPassword = makePasswordCheck(throttle, yield* Passwords)

      const record = (action: AccountAction, { origin, user_id }: Actor) =>
        audit.recordForAccount(action, user_id, { actor_id: user_id, origin })

      return TotpSettings.of({
        get: ({ user_id }) => factors.get(user_id),

        start: Effect.fn("TotpSettings.start")(function* (actor, password) {
          const user = yield* findTokenUser(users, actor.user_id)
          yield* confirmPassword(user, password, actor)
          return yield* transaction(
            Effect.tap(factors.start(user), () => record("totp.started", actor))
          )
        }),

        confirm: Effect.fn("TotpSettings.confirm")(function* (actor, code) {
          const user = yield* findTokenUser(users, actor.user_id)
          const recovery_codes = yield* throttle.guard(
            { account: user.email, ip: actor.origin.ip },
            transaction(
              factors
                .confirm(user, code)
                .pipe(
                  Effect.tap(record("totp.enabled", actor)),
                  Effect.tap(changeMails.send(user, "second factor on", actor.origin))
                )
            )
          )
          return { recovery_codes }
        }),

        remove: Effect.fn("TotpSettings.remove")(function* (actor, { code, current_password }) {
          const user = yield* findTokenUser(users, actor.user_id)
          yield* confirmPassword(user, current_password, actor)
          if (!(yield* factors.get(user.id)).enabled) {
            return yield* new Conflict({
              resource: "user",
              message: "Your account has no second factor."
            })
          }
          const checked = Effect.flatMap(factors.find(user.id), (factor) =>
            factors.check(factor, code)
          ).pipe(Effect.catchTag("TotpRequired", () => Effect.fail(new InvalidCode())))
          yield* throttle.guard({ account: user.email, ip: actor.origin.ip }, checked)
          yield* transaction(
            Effect.gen(function* () {
              yield* factors.remove(user.id)
              yield* record("totp.disabled", actor)
              yield* changeMails.send(user, "second factor off", actor.origin)
            })
          )
        })
      })
    })
  )
}
