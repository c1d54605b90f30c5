import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../../core/index.ts"
import { UsersRepo } from "../users/UsersRepo.ts"

export class FirstAccount extends Context.Service<
  FirstAccount,
  {
    /** True if registration is open and no account exists. */
    readonly isAwaited: Effect.Effect<boolean>
  }
>()("@scheduling/server/accounts/auth/FirstAccount") {
  static readonly layer: Layer.Layer<FirstAccount, never, AppConfig | UsersRepo> = Layer.effect(
    FirstAccount,
    Effect.gen(function* () {
      const { registration } = yield* AppConfig
      const users = yield* UsersRepo
      // Once an account exists, the database is not queried again.
      let isAnswered = registration === "closed"
      return FirstAccount.of({
        isAwaited: Effect.gen(function* () {
          isAnswered ||= !(yield* users.isEmpty)
          return !isAnswered
        })
      })
    })
  )
}
