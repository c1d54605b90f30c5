import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { CreatedRecordPath } from "../shared/CreatedRecordPath.ts"
import { Conflict, NotFound, Stale, ValidationFailed } from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { PageQuery } from "../shared/requests/Page.ts"
import { IfMatch } from "../shared/requests/Version.ts"
import {
  MaintenanceWindow,
  MaintenanceWindowDefinition,
  MaintenanceWindowList,
  maxMaintenanceWindows
} from "./MaintenanceWindow.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }
const keyed = { ...workspace, key: CallerChosenKey }

export class MaintenanceApi extends HttpApiGroup.make("maintenance")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: PageQuery,
      success: MaintenanceWindowList
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs("List maintenance windows", "The workspace's maintenance windows, newest first.")
      ),

    HttpApiEndpoint.get("get", "/:key", {
      params: keyed,
      success: MaintenanceWindow,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs("Get a maintenance window", "The definition, and whether it is in progress.")
      ),

    HttpApiEndpoint.put("upsert", "/:key", {
      params: keyed,
      headers: IfMatch,
      payload: MaintenanceWindowDefinition,
      success: [MaintenanceWindow, MaintenanceWindow.pipe(HttpApiSchema.status(201))],
      error: [Conflict, NotFound, Stale, ValidationFailed]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotate(CreatedRecordPath, "/v1/workspaces/:workspace_id/maintenance/:key")
      .annotateMerge(
        docs(
          "Create or change a maintenance window",
          "During the maintenance, failures are recorded, but open no incident and notify nobody, and no " +
            "reminders are sent. Monitors and tasks that still fail when it ends open incidents within seconds. Incidents that were open before stay open, and their recovery is announced. An API key also needs `tasks:write` " +
            `for a window with \`everything\`, \`tags\` or \`task_ids\`. A workspace can have ${maxMaintenanceWindows} windows.`
        )
      ),

    HttpApiEndpoint.delete("delete", "/:key", {
      params: keyed,
      headers: IfMatch,
      error: [NotFound, Stale]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Delete a maintenance window",
          "Maintenance in progress ends: monitors and tasks that still fail open incidents within seconds."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/maintenance")
  .annotateMerge(
    OpenApi.annotations({
      title: "Maintenance",
      description: "Periods in which failures are expected."
    })
  ) {}
