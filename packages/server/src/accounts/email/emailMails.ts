import { Redacted } from "effect"
import type { MailContent } from "../../mail/index.ts"

export const verificationPath = "/email/verify"

/**
 * Creates the email that verifies an address. It contains no text entered by the account's owner,
 * who could be a stranger to the recipient.
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
  link: {
    words: "Yes, it is mine",
    url: `${publicUrl}${verificationPath}/${Redacted.value(token)}`
  },
  otherwise:
    "If this was not you, ignore this mail: no mails about the account will be sent to this address."
})

export const emailChangedMail = (to: string): MailContent => ({
  to,
  subject: "Your email address was changed",
  lines: [
    "The email address of your account at the scheduling service was changed. The account no longer uses this address."
  ],
  otherwise: "If this was not you, contact the operator of the service immediately."
})
