import { Redacted } from "effect"
import type { Letter } from "../../mail/index.ts"

export const linkPath = "/email/verify"

/** Nothing in it is written by whoever has the account. */
export const verificationLetter = (
  to: string,
  publicUrl: string,
  token: Redacted.Redacted
): Letter => ({
  to,
  subject: "Is this your email?",
  lines: [
    `Somebody entered this address for an account at ${new URL(publicUrl).host}.`,
    "If it was you, open this link within a week:"
  ],
  link: { words: "Yes, it is mine", url: `${publicUrl}${linkPath}/${Redacted.value(token)}` },
  otherwise: "If it was not you, do nothing: nothing will be sent here because of it."
})

export const changedLetter = (to: string): Letter => ({
  to,
  subject: "Your email was changed",
  lines: [
    "The email of your account at the scheduling service was changed. This address no longer belongs to it."
  ],
  otherwise: "If it was not you, ask the operator of the service at once."
})
