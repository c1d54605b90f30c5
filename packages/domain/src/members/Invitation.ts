import { Schema } from "effect"
import { Email } from "../auth/emailAddress.ts"
import { InvitationId, UserId } from "../shared/Ids.ts"
import { LinkToken } from "../shared/LinkToken.ts"
import { Timestamp, createdAt } from "../shared/Timestamp.ts"
import { Role } from "./Role.ts"

export const invitationDays = 7
const fields = {
  id: InvitationId,
  email: Schema.String.annotate({ description: "Who is invited.", examples: ["ada@example.com"] }),
  role: Role,
  invited_by: UserId.annotate({ description: "The member who made the invitation." }),
  expires_at: Timestamp.annotate({ description: `${invitationDays} days after it was made.` }),
  created_at: createdAt
}

/** Somebody may become a member, and has not answered yet. */
export const Invitation = Schema.Struct(fields).annotate({ identifier: "Invitation" })
export type Invitation = typeof Invitation.Type

export const CreatedInvitation = Schema.Struct({
  ...fields,
  token: Schema.NullOr(Schema.RedactedFromValue(Schema.String, { label: "token" })).pipe(
    Schema.annotateEncoded({
      description:
        "What the invited person accepts with. Null where the server has sent it by mail. Otherwise hand it on: it is shown in this answer and never again.",
      examples: ["Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"]
    })
  )
}).annotate({ identifier: "CreatedInvitation" })
export type CreatedInvitation = typeof CreatedInvitation.Type

/** The invitation as the invited person sees it before they accept. */
export const InvitationPreview = Schema.Struct({
  workspace_name: Schema.String.annotate({
    description: "The name of the workspace.",
    examples: ["Acme production"]
  }),
  role: Role,
  email: fields.email,
  invited_by: Schema.String.annotate({
    description: "The name of the member who made the invitation, or their email without one.",
    examples: ["Ada Lovelace"]
  }),
  expires_at: fields.expires_at
}).annotate({ identifier: "InvitationPreview" })
export type InvitationPreview = typeof InvitationPreview.Type

export const InvitationInput = Schema.Struct({ email: Email, role: Role }).annotate({
  identifier: "InvitationInput",
  examples: [{ email: "ada@example.com", role: "editor" }]
})
export type InvitationInput = typeof InvitationInput.Type

export const InvitationAcceptance = Schema.Struct({ token: LinkToken }).annotate({
  identifier: "InvitationAcceptance"
})
