import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound } from "../shared/Errors.ts"
import { inPath, UserId, WorkspaceId } from "../shared/Ids.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { Member, MemberUpdate } from "./Member.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const member = { workspace_id: inPath(WorkspaceId), user_id: inPath(UserId) }

export class MembersApi extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("list", "/members", {
      params: workspace,
      query: PageQuery,
      success: Page("MemberPage", Member)
    })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(docs("List members", "Who shares the workspace, the newest accounts first.")),

    HttpApiEndpoint.patch("update", "/members/:user_id", {
      params: member,
      payload: MemberUpdate,
      success: Member,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Change a member's role",
          "It applies from their next request on. Only owners make owners and change their role, and the last owner keeps it."
        )
      ),

    HttpApiEndpoint.delete("remove", "/members/:user_id", {
      params: member,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Remove a member",
          "Their next request is refused. API keys that they made go on working: keys belong to the workspace. The invitations that they made end."
        )
      ),

    HttpApiEndpoint.post("leave", "/leave", { params: workspace, error: Conflict })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(
        docs("Leave a workspace", "You are no longer a member. The last owner cannot leave.")
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id")
  .annotateMerge(
    OpenApi.annotations({
      title: "Members",
      description: "The people who share a workspace, and what each of them may do."
    })
  ) {}
