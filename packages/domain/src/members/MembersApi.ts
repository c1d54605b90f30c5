import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict, NotFound } from "../shared/Errors.ts"
import { idInPath, UserId, WorkspaceId } from "../shared/Ids.ts"
import { Page, PageQuery } from "../shared/requests/Page.ts"
import { Member, MemberUpdate } from "./Member.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const member = { workspace_id: idInPath(WorkspaceId), user_id: idInPath(UserId) }

export class MembersApi extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("list", "/members", {
      params: workspace,
      query: PageQuery,
      success: Page("MemberPage", Member)
    })
      .annotate(Access, Access.role("viewer"))
      .annotateMerge(docs("List members", "The members of the workspace, newest accounts first.")),

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
          "The role applies from the member's next request. Only owners can make a member an owner or change the role of an owner. The role of the last owner cannot be changed."
        )
      ),

    HttpApiEndpoint.delete("delete", "/members/:user_id", {
      params: member,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.role("admin"))
      .annotateMerge(
        docs(
          "Remove a member",
          "The member's next request is rejected. API keys that the member created keep " +
            "working, because they belong to the workspace. Invitations by the member are " +
            "deleted."
        )
      ),

    HttpApiEndpoint.post("leave", "/leave", { params: workspace, error: Conflict })
      .annotate(Access, Access.personWithRole("viewer"))
      .annotateMerge(
        docs("Leave a workspace", "Ends your membership. The last owner cannot leave.")
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id")
  .annotateMerge(
    OpenApi.annotations({
      title: "Members",
      description: "The people in a workspace, and their roles."
    })
  ) {}
