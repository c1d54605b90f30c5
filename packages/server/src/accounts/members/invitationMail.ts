import { invitationDays } from "@scheduling/domain/members/Invitation"
import { Redacted } from "effect"
import type { MailContent } from "../../mail/index.ts"

/** Creates the email for an invitation. It contains no text entered by the inviting user. */
export const invitationMail = (
  to: string,
  publicUrl: string,
  token: Redacted.Redacted
): MailContent => ({
  to,
  subject: "You are invited to a workspace",
  lines: [
    `You have been invited to join a workspace at ${new URL(publicUrl).host}.`,
    `To join, open this link within ${invitationDays} days:`
  ],
  // Browsers do not send the fragment (the part after `#`) to the server.
  link: { words: "Join the workspace", url: `${publicUrl}/invitation#${Redacted.value(token)}` },
  otherwise: "If you do not want to join, ignore this mail."
})
