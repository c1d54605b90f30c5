import { Redacted } from "effect"
import type { MailContent } from "../../mail/index.ts"
import type { UserRow } from "../users/UsersRepo.ts"

/**
 * Creates the email with the link to set a new password. It contains no text entered by whoever
 * requested it.
 */
export const resetMail = (
  { email, email_verified_at }: Pick<UserRow, "email" | "email_verified_at">,
  publicUrl: string,
  token: Redacted.Redacted
): MailContent => ({
  to: email,
  subject: "Set a new password",
  lines: [
    `A new password was requested for your account at ${new URL(publicUrl).host}.`,
    ...(email_verified_at === null ? [unverifiedWarning] : []),
    "If this was you, open this link within an hour:"
  ],
  // Browsers do not send the fragment (the part after `#`) to the server.
  link: {
    words: "Set a new password",
    url: `${publicUrl}/reset-password#${Redacted.value(token)}`
  },
  otherwise: "If this was not you, ignore this mail: your password stays unchanged."
})

const unverifiedWarning =
  "This email address is not verified yet, so a new password also removes the second factor and, in workspaces that only you own, the API keys, the tokens of workers and the other members."
