import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { inPath, WorkspaceId } from "../shared/Ids.ts"
import { repeatable } from "../shared/requests/repeatable.ts"
import { manyIds } from "../shared/requests/ManyIds.ts"
import { exampleOfMonitor, MonitorKind, MonitorPage, MonitorQuery } from "./Monitor.ts"

export class MonitorsApi extends HttpApiGroup.make("monitors")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: { workspace_id: inPath(WorkspaceId) },
      query: {
        kind: Schema.optionalKey(repeatable(MonitorKind, "The kind")),
        monitor_ids: Schema.optionalKey(manyIds("monitors", exampleOfMonitor.id)),
        ...MonitorQuery
      },
      success: MonitorPage
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs(
          "List monitors",
          "Monitors of all kinds, newest first, with the fields that all kinds have. `counts` is about " +
            "the whole workspace."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors")
  .annotateMerge(
    OpenApi.annotations({
      title: "Monitors",
      description: "Monitors watch work that this service does not run."
    })
  ) {}
