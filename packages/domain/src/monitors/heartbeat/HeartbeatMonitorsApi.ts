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
import { HeartbeatEventPage } from "./HeartbeatEvent.ts"
import {
  HeartbeatMonitor,
  HeartbeatMonitorDefinition,
  HeartbeatMonitorInput,
  HeartbeatMonitorPage,
  HeartbeatMonitorUpdate
} from "./HeartbeatMonitor.ts"

const workspace = { workspace_id: inPath(WorkspaceId) }
const monitor = { workspace_id: inPath(WorkspaceId), monitor_id: inPath(MonitorId) }

export class HeartbeatMonitorsApi extends HttpApiGroup.make("heartbeatMonitors")
  .add(
    HttpApiEndpoint.get("list", "/", {
      params: workspace,
      query: { ...PageQuery, ...MonitorFilters },
      success: HeartbeatMonitorPage
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs("List heartbeat monitors", "The workspace's heartbeat monitors, newest first.")
      ),

    HttpApiEndpoint.post("create", "/", {
      params: workspace,
      headers: IdempotencyKey,
      payload: HeartbeatMonitorInput,
      success: HeartbeatMonitor.pipe(HttpApiSchema.status(201)),
      error: [Conflict, IdempotencyConflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Create a heartbeat monitor",
          "Let the job request its `ping_url` when it is done. The monitor waits for the first ping " +
            `and alerts nobody until then. ${planAllows("monitors", "monitors", 1_000)}`
        )
      ),

    HttpApiEndpoint.put("upsert", "/by-key/:key", {
      params: { ...workspace, key: OwnKey },
      payload: HeartbeatMonitorDefinition,
      success: [HeartbeatMonitor, HeartbeatMonitor.pipe(HttpApiSchema.status(201))],
      error: [Conflict, QuotaExceeded]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(upsertDocs("a heartbeat monitor", "A paused monitor stays paused.")),

    HttpApiEndpoint.get("get", "/:monitor_id", {
      params: monitor,
      success: HeartbeatMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(docs("Get a heartbeat monitor", "The monitor, and when a ping is due.")),

    HttpApiEndpoint.patch("update", "/:monitor_id", {
      params: monitor,
      payload: HeartbeatMonitorUpdate,
      success: HeartbeatMonitor,
      error: [NotFound, Conflict]
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Change a heartbeat monitor",
          "Changes the fields that are given. No change by itself makes a monitor go down."
        )
      ),

    HttpApiEndpoint.delete("remove", "/:monitor_id", { params: monitor, error: NotFound })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Delete a heartbeat monitor",
          "Its ping URL answers 404 at once. Its events and incidents go with it."
        )
      ),

    HttpApiEndpoint.post("pause", "/:monitor_id/pause", {
      params: monitor,
      success: HeartbeatMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Pause a heartbeat monitor",
          "Pings are recorded and change nothing, and no deadline passes. An open incident is " +
            "closed. Pausing again changes nothing."
        )
      ),

    HttpApiEndpoint.post("resume", "/:monitor_id/resume", {
      params: monitor,
      success: HeartbeatMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs(
          "Resume a heartbeat monitor",
          "It is `new` again. One that was pinged before waits for its next ping as from now on. " +
            "Resuming again changes nothing."
        )
      ),

    HttpApiEndpoint.post("rotateUrl", "/:monitor_id/rotate-url", {
      params: monitor,
      success: HeartbeatMonitor,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:write"))
      .annotateMerge(
        docs("Replace the ping URL", "Gives a new `ping_url`. The old one answers 404 at once.")
      ),

    HttpApiEndpoint.get("events", "/:monitor_id/events", {
      params: monitor,
      query: PageQuery,
      success: HeartbeatEventPage,
      error: NotFound
    })
      .annotate(Access, Access.scope("monitors:read"))
      .annotateMerge(
        docs(
          "List a heartbeat monitor's events",
          "Its pings and what was missed, newest first, kept for 30 days by default. Pings " +
            "beyond 60 per minute count, but are not listed."
        )
      )
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/heartbeat")
  .annotateMerge(
    OpenApi.annotations({
      title: "Heartbeat monitors",
      description:
        "Jobs that run elsewhere and say so: a monitor goes down when a ping is missing, a run " +
        "fails, takes too long or comes too soon. A ping is a `GET`, `HEAD` or `POST` of the " +
        "monitor's `ping_url`, with nothing after it (success), `/start`, `/fail`, `/log` or the " +
        "exit status of the job (`/0` to `/255`). `?rid=<uuid>` tells overlapping runs apart. It " +
        "answers `OK` once the ping is on disk."
    })
  ) {}
