import { invitationDays } from "@scheduling/domain/members/Invitation"
import { Redacted } from "effect"
import type { Letter } from "../notifications/mail/letterOf.ts"

/** Nothing in it is written by whoever invites. */
export const invitationLetter = (to: string, token: Redacted.Redacted): Letter => ({
  to,
  subject: "You are invited to a workspace",
  lines: [
    "Somebody invites you to their workspace at the scheduling service.",
    `If you want to become a member, accept with this token within ${invitationDays} days:`,
    Redacted.value(token),
    "(POST /v1/invitations/accept with the field token, logged in to an account with this email.)"
  ],
  otherwise: "If you do not want to, do nothing."
})
