import type { MailContent } from "../../mail/index.ts"

export type AccountChange = keyof typeof texts

const texts = {
  password: {
    subject: "Your password was changed",
    what: (service: string) => `The password of your account at ${service} was changed`
  },
  "passkey added": {
    subject: "A passkey was added",
    what: (service: string) => `A passkey was added to your account at ${service}`
  },
  "passkey removed": {
    subject: "A passkey was removed",
    what: (service: string) => `A passkey of your account at ${service} was removed`
  },
  "second factor on": {
    subject: "A second factor was switched on",
    what: (service: string) => `A second factor for your account at ${service} was switched on`
  },
  "second factor off": {
    subject: "Your second factor was removed",
    what: (service: string) => `The second factor of your account at ${service} was removed`
  }
} as const

/**
 * Creates the email about a change to the access to an account. It contains no text entered by
 * whoever made the change.
 */
export const accountChangeMail = ({
  at,
  change,
  ip,
  publicUrl,
  to
}: {
  readonly to: string
  readonly change: AccountChange
  readonly at: Date
  /** The IP address from which the change was made. Null if the operator made it. */
  readonly ip: string | null
  readonly publicUrl: string | undefined
}): MailContent => {
  const { subject, what } = texts[change]
  const service = publicUrl === undefined ? "the scheduling service" : new URL(publicUrl).host
  const time = at.toISOString().replace("T", " at ").slice(0, 19)
  const from = ip === null ? "by the operator of the service" : `from the address ${ip}`
  return {
    to,
    subject,
    lines: [
      `${what(service)} on ${time} UTC, ${from}.`,
      "If this was not you, set a new password immediately, which ends all sessions. If you cannot log in then, ask the operator of the service."
    ],
    ...(publicUrl === undefined
      ? {}
      : { link: { words: "Set a new password", url: `${publicUrl}/forgot-password` } }),
    otherwise: "If this was you, no action is needed."
  }
}
