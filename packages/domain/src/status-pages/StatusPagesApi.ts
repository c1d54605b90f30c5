import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { CreatedRecordPath } from "../shared/CreatedRecordPath.ts"
import { Conflict, NotFound, Stale, ValidationFailed } from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import {
  maxStatusPages,
  StatusPage,
  StatusPageDefinition,
  StatusPageList,
  StatusPageSlug
} from "./StatusPage.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const page = { ...workspace, slug: StatusPageSlug }

export class StatusPagesApi extends HttpApiGroup.make("statusPages")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: PageQuery,
      success: StatusPageList
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs("List status pages", "The workspace's status pages, newest first.")),

    HttpApiEndpoint.get("get", "/:slug", { params: page, success: StatusPage, error: NotFound })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs("Get a status page", "The definition of the status page.")),

    HttpApiEndpoint.put("upsert", "/:slug", {
      params: page,
      headers: IfMatch,
      payload: StatusPageDefinition,
      success: [StatusPage, StatusPage.pipe(HttpApiSchema.status(201))],
      error: [Conflict, NotFound, Stale, ValidationFailed]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotate(CreatedRecordPath, "/v1/workspaces/:workspace_id/status-pages/:slug")
      .annotateMerge(
        docs(
          "Create or change a status page",
          "Anybody can read the page at `/status/{slug}`, without JavaScript. It shows the " +
            "monitors of its groups and nothing else of the workspace. A page with a password asks " +
            "for it by HTTP Basic authentication, with any user name. The page is also " +
            "available as JSON at `/status/{slug}.json`, its incidents and notices as a feed at " +
            "`/status/{slug}.atom`, and a badge at `/status/{slug}.svg`. A change is visible " +
            `within 15 seconds. A workspace can have ${maxStatusPages} pages.`
        )
      ),

    HttpApiEndpoint.delete("delete", "/:slug", {
      params: page,
      headers: IfMatch,
      error: [NotFound, Stale]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs("Delete a status page", "The public address responds with 404 within 15 seconds.")
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/status-pages")
  .annotateMerge(
    OpenApi.annotations({
      title: "Status pages",
      description: "Public pages that show the status of selected monitors."
    })
  ) {}
