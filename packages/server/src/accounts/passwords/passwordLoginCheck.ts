import { PasswordLoginOff } from "@scheduling/domain/auth/AuthErrors"
import { Effect } from "effect"
import { AppConfig } from "../../core/index.ts"

/** Creates a check that fails if the settings disable signing in with a password. */
export const passwordLoginCheck: Effect.Effect<
  Effect.Effect<void, PasswordLoginOff>,
  never,
  AppConfig
> = Effect.map(AppConfig, ({ passwordLogin }) =>
  passwordLogin === "on" ? Effect.void : Effect.suspend(() => Effect.fail(new PasswordLoginOff()))
)
