import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound, QuotaExceeded, RateLimited } from "../shared/Errors.ts"
import { idInPath, InvitationId, WorkspaceId } from "../shared/Ids.ts"
import { Internal } from "../shared/Internal.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { Workspace } from "../workspaces/Workspace.ts"
import {
  CreatedInvitation,
  Invitation,
  InvitationAcceptance,
  invitationDays,
  InvitationInput,
  InvitationPreview
} from "./Invitation.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }

export class InvitationsApi extends HttpApiGroup.make("invitations")
  .add(
    HttpApiEndpoint.get("list", "/workspaces/:workspace_id/invitations", {
      params: workspace,
      query: PageQuery,
      success: Page("InvitationPage", Invitation)
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("List invitations", "The open invitations of the workspace.")),

    HttpApiEndpoint.post("create", "/workspaces/:workspace_id/invitations", {
      params: workspace,
      payload: InvitationInput,
      success: CreatedInvitation.pipe(HttpApiSchema.status(201)),
      error: [Conflict, QuotaExceeded, RateLimited]
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Invite somebody",
          `The account with this email can become a member within ${invitationDays} days. A new invitation for the same email replaces this one. If the server sends mail, it mails the invitation: at most five per address and fifty per member within 15 minutes. Only owners can invite owners.`
        )
      ),

    HttpApiEndpoint.delete("delete", "/workspaces/:workspace_id/invitations/:invitation_id", {
      params: { workspace_id: idInPath(WorkspaceId), invitation_id: idInPath(InvitationId) },
      error: NotFound
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(docs("Withdraw an invitation", "The invitation can no longer be accepted.")),

    HttpApiEndpoint.post("accept", "/invitations/accept", {
      payload: InvitationAcceptance,
      success: Workspace,
      error: [NotFound, Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.jwt)
      .annotateMerge(
        docs(
          "Accept an invitation",
          "You become a member of the workspace. Your account must have the invited email."
        )
      )
  )
  .middleware(Authentication)
  .add(
    HttpApiEndpoint.post("preview", "/invitations/preview", {
      payload: InvitationAcceptance,
      success: InvitationPreview,
      error: [NotFound, RateLimited]
    })
      .annotate(Access, Access.public)
      .annotate(Internal, true)
      .annotateMerge(
        docs(
          "Preview an invitation",
          "Returns the workspace, the role and the inviting member. Requires only the token, so that people can see the invitation before they have an account. An IP address can send 100 of these requests in 15 minutes."
        )
      )
  )
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Invitations",
      description: "Invitations to a workspace."
    })
  ) {}
