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
import { ProcessEventPage } from "./ProcessEvent.ts"
import {
  ProcessMonitor,
  ProcessMonitorDefinition,
  ProcessMonitorInput,
  ProcessMonitorPage,
  ProcessMonitorUpdate
} from "./ProcessMonitor.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const monitor = { workspace_id: inPath(WorkspaceId), monitor_id: inPath(MonitorId) }

export class ProcessMonitorsApi extends HttpApiGroup.make("processMonitors")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...MonitorFilters },
      success: ProcessMonitorPage
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs("List process monitors", "The workspace's process monitors, newest first.")
      ),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: ProcessMonitorInput,
      success: ProcessMonitor.pipe(HttpApiSchema.status(201)),
      error: [Conflict, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Create a process monitor",
          "It is `new` until the agent of its worker reports. Rules are judged with every report. " +
            planAllows("monitors", "monitors", 1_000)
        )
      ),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: OwnKey },
      payload: ProcessMonitorDefinition,
      success: [ProcessMonitor, ProcessMonitor.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(upsertDocs("a process monitor", "A paused monitor stays paused.")),

    HttpApiEndpoint.get("get", "/:monitor_id", {
      params: monitor,
      success: ProcessMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs("Get a process monitor", "The monitor, and the latest report.")),

    HttpApiEndpoint.patch("update", "/:monitor_id", {
      params: monitor,
      payload: ProcessMonitorUpdate,
      success: ProcessMonitor,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Change a process monitor",
          "Changes the fields that are given. They apply from the next report on."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:monitor_id", { params: monitor, error: NotFound })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(docs("Delete a process monitor", "Its events and incidents go with it.")),

    HttpApiEndpoint.post("pause", "/:monitor_id/pause", {
      params: monitor,
      success: ProcessMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Pause a process monitor",
          "Its processes are not watched until it is resumed. An open incident is closed. Pausing again changes nothing."
        )
      ),

    HttpApiEndpoint.post("resume", "/:monitor_id/resume", {
      params: monitor,
      success: ProcessMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Resume a process monitor",
          "It is `new` again until the next report. Resuming again changes nothing."
        )
      ),

    HttpApiEndpoint.get("events", "/:monitor_id/events", {
      params: monitor,
      query: PageQuery,
      success: ProcessEventPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs(
          "List a process monitor's events",
          "When it went down and up, newest first, kept for 30 days by default."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/process")
  .annotateMerge(
    OpenApi.annotations({
      title: "Process monitors",
      description:
        "Processes on the machines of workers: how many run, and what memory and processor time they take."
    })
  ) {}
