import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../../core/index.ts"
import { UsersRepo } from "../users/UsersRepo.ts"

/** Knows whether a fresh server waits for its first account. */
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
      // Once there was an account, the database is not asked again.
      let isOver = registration === "closed"
      return FirstAccount.of({
        isAwaited: Effect.gen(function* () {
          isOver ||= !(yield* users.isEmpty)
          return !isOver
        })
      })
    })
  )
}
