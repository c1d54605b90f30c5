import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { planAllows } from "../../billing/Limits.ts"
import { Access } from "../../shared/Access.ts"
import { docs } from "../../shared/docs.ts"
import { Conflict, IdempotencyConflict, NotFound, QuotaExceeded } from "../../shared/Errors.ts"
import { IdempotencyKey } from "../../shared/requests/IdempotencyKey.ts"
import { inPath, MonitorId, WorkspaceId } from "../../shared/Ids.ts"
import { OwnKey, upsertDocs } from "../../shared/requests/OwnKey.ts"
import { PageQuery } from "../../shared/requests/Page.ts"
import { MonitorFilters } from "../Monitor.ts"
import { SslEventPage } from "./SslEvent.ts"
import {
  SslMonitor,
  SslMonitorDefinition,
  SslMonitorInput,
  SslMonitorPage,
  SslMonitorUpdate
} from "./SslMonitor.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const monitor = { workspace_id: inPath(WorkspaceId), monitor_id: inPath(MonitorId) }

export class SslMonitorsApi extends HttpApiGroup.make("sslMonitors")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...MonitorFilters },
      success: SslMonitorPage
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs("List SSL monitors", "The workspace's SSL monitors, newest first.")),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: SslMonitorInput,
      success: SslMonitor.pipe(HttpApiSchema.status(201)),
      error: [Conflict, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Create an SSL monitor",
          "Its certificate is checked at once, and then from time to time. " +
            planAllows("monitors", "monitors", 1_000)
        )
      ),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: OwnKey },
      payload: SslMonitorDefinition,
      success: [SslMonitor, SslMonitor.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(upsertDocs("an SSL monitor", "A paused monitor stays paused.")),

    HttpApiEndpoint.get("get", "/:monitor_id", {
      params: monitor,
      success: SslMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs("Get an SSL monitor", "The monitor, and what the latest look found.")),

    HttpApiEndpoint.patch("update", "/:monitor_id", {
      params: monitor,
      payload: SslMonitorUpdate,
      success: SslMonitor,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs("Change an SSL monitor", "Changes the fields that are given, and looks again.")
      ),

    HttpApiEndpoint.delete("remove", "/:monitor_id", { params: monitor, error: NotFound })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(docs("Delete an SSL monitor", "Its events and incidents go with it.")),

    HttpApiEndpoint.post("pause", "/:monitor_id/pause", {
      params: monitor,
      success: SslMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Pause an SSL monitor",
          "It is not looked at until resumed. An open incident is closed. Pausing again changes " +
            "nothing."
        )
      ),

    HttpApiEndpoint.post("resume", "/:monitor_id/resume", {
      params: monitor,
      success: SslMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Resume an SSL monitor",
          "It is `new` again, and its certificate is checked at once. Resuming again changes nothing."
        )
      ),

    HttpApiEndpoint.post("check", "/:monitor_id/check", {
      params: monitor,
      success: SslMonitor.pipe(HttpApiSchema.status(202)),
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Look at a certificate now",
          "Asks for a look within a second. What it finds is in the monitor a moment later. After a " +
            "failed look, the second one comes no sooner than a minute later, and `next_check_at` " +
            "says when. A monitor that is paused answers 409."
        )
      ),

    HttpApiEndpoint.get("events", "/:monitor_id/events", {
      params: monitor,
      query: PageQuery,
      success: SslEventPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs(
          "List an SSL monitor's events",
          "What each look found, newest first, kept for 30 days by default."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/ssl")
  .annotateMerge(
    OpenApi.annotations({
      title: "SSL monitors",
      description:
        "Certificates of servers: a monitor tells before one expires, and goes down when clients " +
        "would refuse it, or when the server could not be reached twice in a row, a minute apart."
    })
  ) {}
