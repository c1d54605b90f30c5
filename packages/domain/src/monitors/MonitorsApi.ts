import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound } from "../shared/Errors.ts"
import { idInPath, MonitorId, WorkspaceId } from "../shared/Ids.ts"
import { repeatable } from "../shared/requests/repeatable.ts"
import { manyIds } from "../shared/requests/ManyIds.ts"
import { exampleOfMonitor, MonitorKind, MonitorPage, MonitorQuery } from "./Monitor.ts"
import { MonitorUptimeSeries, MonitorUptime, UptimePeriod } from "./MonitorUptime.ts"

const ofMonitor = { workspace_id: idInPath(WorkspaceId), monitor_id: idInPath(MonitorId) }
const ofPeriod = { period: Schema.optionalKey(UptimePeriod) }

export class MonitorsApi extends HttpApiGroup.make("monitors")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: { workspace_id: idInPath(WorkspaceId) },
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
          "Monitors of all kinds, newest first, with the fields that all kinds have. `counts` " +
            "covers the whole workspace."
        )
      ),

    HttpApiEndpoint.get("uptime", "/:monitor_id/uptime", {
      params: ofMonitor,
      query: ofPeriod,
      success: MonitorUptime,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs(
          "Get the uptime of a monitor",
          "For monitors of all kinds, independent of `RETENTION_DAYS`. Five-minute statistics are kept for 7 days, hourly statistics for 90 days, and daily statistics for 400 days."
        )
      ),

    HttpApiEndpoint.get("series", "/:monitor_id/series", {
      params: ofMonitor,
      query: ofPeriod,
      success: MonitorUptimeSeries,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs(
          "Get the uptime of a monitor over time",
          "The uptime statistics for every five minutes, hour or day of the period, for charts."
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
