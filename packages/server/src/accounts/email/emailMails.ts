import { Redacted } from "effect"
import type { MailContent } from "../../mail/index.ts"

export const linkPath = "/email/verify"

/**
 * Creates the mail. It contains no text entered by the account's owner, who could be a stranger.
 */
export const verificationMail = (
  to: string,
  publicUrl: string,
  token: Redacted.Redacted
): MailContent => ({
  to,
  subject: "Is this your email?",
  lines: [
    `Somebody entered this address for an account at ${new URL(publicUrl).host}.`,
    "If this was you, open this link within a week:"
  ],
  link: { words: "Yes, it is mine", url: `${publicUrl}${linkPath}/${Redacted.value(token)}` },
  otherwise:
    "If this was not you, ignore this mail: no mails about the account will be sent to this address."
})

export const emailChangedMail = (to: string): MailContent => ({
  to,
  subject: "Your email was changed",
  lines: [
    "The email of your account at the scheduling service was changed. This address no longer belongs to it."
  ],
  otherwise: "If this was not you, contact the operator of the service immediately."
})
