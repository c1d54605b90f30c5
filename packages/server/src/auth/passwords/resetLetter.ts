import { Redacted } from "effect"
import type { Letter } from "../../notifications/mail/letterOf.ts"

/** Nothing in it is written by whoever asked for it. */
export const resetLetter = (to: string, publicUrl: string, token: Redacted.Redacted): Letter => ({
  to,
  subject: "Set a new password",
  lines: [
    `Somebody asked to set a new password for your account at ${new URL(publicUrl).host}.`,
    "If it was you, open this link within an hour:"
  ],
  // After the `#`, which browsers send to no server.
  link: {
    words: "Set a new password",
    url: `${publicUrl}/reset-password#${Redacted.value(token)}`
  },
  otherwise: "If it was not you, do nothing: your password stays as it is."
})
