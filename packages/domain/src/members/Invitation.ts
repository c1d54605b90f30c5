import { Schema } from "effect"
import { Email } from "../auth/emailAddress.ts"
import { InvitationId, UserId } from "../shared/Ids.ts"
import { LinkToken } from "../shared/LinkToken.ts"
import { Timestamp, createdAt } from "../shared/Timestamp.ts"
import { Role } from "./Role.ts"

export const invitationDays = 7
const fields = {
  id: InvitationId,
  email: Schema.String.annotate({
    description: "The email of the invited person.",
    examples: ["ada@example.com"]
  }),
  role: Role,
  invited_by: UserId.annotate({ description: "The member who created the invitation." }),
  expires_at: Timestamp.annotate({
    description: `When the invitation expires: ${invitationDays} days after its creation.`
  }),
  created_at: createdAt
}

export const Invitation = Schema.Struct(fields).annotate({ identifier: "Invitation" })
export type Invitation = typeof Invitation.Type

export const CreatedInvitation = Schema.Struct({
  ...fields,
  token: Schema.NullOr(Schema.RedactedFromValue(Schema.String, { label: "token" })).pipe(
    Schema.annotateEncoded({
      description:
        "The token with which the invited person accepts. Null if the server has mailed it. Otherwise pass it on: only this response contains it.",
      examples: ["Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"]
    })
  )
}).annotate({ identifier: "CreatedInvitation" })
export type CreatedInvitation = typeof CreatedInvitation.Type

/** An invitation as the invited person sees it. */
export const InvitationPreview = Schema.Struct({
  workspace_name: Schema.String.annotate({
    description: "The name of the workspace.",
    examples: ["Acme production"]
  }),
  role: Role,
  email: fields.email,
  invited_by: Schema.String.annotate({
    description:
      "The name of the member who created the invitation, or the member's email if there is no name.",
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
