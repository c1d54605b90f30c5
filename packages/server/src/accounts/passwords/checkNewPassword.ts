import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect, Redacted } from "effect"
import { isCommonPassword } from "./commonPasswords.ts"

/** Checks a new password. The contract has already validated its length. */
export const checkNewPassword = (password: Redacted.Redacted, email: string, field: string) => {
  const text = Redacted.value(password)
  const problem =
    text.toLowerCase() === email
      ? "must not be your email address"
      : isCommonPassword(text)
        ? "is one of the most common passwords; choose another"
        : undefined
  return problem === undefined
    ? Effect.void
    : Effect.fail(ValidationFailed.at([field], "invalid", problem))
}
