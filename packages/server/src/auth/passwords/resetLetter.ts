import { Redacted } from "effect"
import type { Letter } from "../../notifications/mail/letterOf.ts"

/** Nothing in it is written by whoever asked for it. */
export const resetLetter = (to: string, token: Redacted.Redacted): Letter => ({
  to,
  subject: "Set a new password",
  lines: [
    "Somebody asked to set a new password for your account at the scheduling service.",
    "If it was you, set it with this token within an hour:",
    Redacted.value(token),
    "(POST /v1/auth/password/reset with the fields token and new_password.)"
  ],
  otherwise: "If it was not you, do nothing: your password stays as it is."
})
