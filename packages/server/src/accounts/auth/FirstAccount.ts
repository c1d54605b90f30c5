import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../../core/index.ts"
import { UsersRepo } from "../users/UsersRepo.ts"

export class FirstAccount extends Context.Service<
  FirstAccount,
  {
    /** True if no account exists yet and the first one can be registered. */
    readonly isAwaited: Effect.Effect<boolean>
  }
>()("@scheduling/server/accounts/auth/FirstAccount") {
  static readonly layer: Layer.Layer<FirstAccount, never, AppConfig | UsersRepo> = Layer.effect(
    FirstAccount,
    Effect.gen(function* () {
      const { passwordLogin, registration } = yield* AppConfig
      const users = yield* UsersRepo
      // Once an account exists, this is always true, and the database is not queried again.
      let isAnswered = registration === "closed" || passwordLogin === "off"
      return FirstAccount.of({
        isAwaited: Effect.gen(function* () {
          isAnswered ||= !(yield* users.isEmpty)
          return !isAnswered
        })
      })
    })
  )
}
