import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { Access } from "../../shared/Access.ts"
import { docs } from "../../shared/docs.ts"
import { NotFound } from "../../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../../shared/Ids.ts"
import { CreatedRecordPath } from "../../shared/CreatedRecordPath.ts"
import { monitorEndpoints, monitorParams } from "../monitorEndpoints.ts"
import { HeartbeatEventPage } from "./HeartbeatEvent.ts"
import {
  HeartbeatMonitor,
  HeartbeatMonitorDefinition,
  HeartbeatMonitorInput,
  HeartbeatMonitorPage,
  HeartbeatMonitorUpdate
} from "./HeartbeatMonitor.ts"
import { PingKey } from "./PingKey.ts"

const rotateUrl = HttpApiEndpoint.post("rotateUrl", "/:monitor_id/rotate-url", {
  params: monitorParams("heartbeat"),
  success: HeartbeatMonitor,
  error: NotFound
})
  .annotate(Access, Access.scope("monitors:write"))
  .annotateMerge(
    docs(
      "Replace the ping URL",
      "Creates a new `ping_url`. The old URL responds with 404 immediately."
    )
  )

const params = { workspace_id: idInPath(WorkspaceId) }

const getPingKey = HttpApiEndpoint.get("getPingKey", "/ping-key", { params, success: PingKey })
  .annotate(Access, Access.role("editor"))
  .annotateMerge(
    docs(
      "Get the ping key",
      "With the workspace's ping key, jobs ping heartbeat monitors by key: `/ping/{ping_key}/{key}`."
    )
  )

const rotatePingKey = HttpApiEndpoint.post("rotatePingKey", "/ping-key/rotate", {
  params,
  success: PingKey.pipe(HttpApiSchema.status(201))
})
  .annotate(Access, Access.role("admin"))
  .annotate(CreatedRecordPath, "/v1/workspaces/:workspace_id/monitors/heartbeat/ping-key")
  .annotateMerge(
    docs(
      "Create or replace the ping key",
      "Creates a new ping key. URLs with the old key respond with 404 immediately. The `ping_url` of each monitor does not change."
    )
  )

export class HeartbeatMonitorsApi extends HttpApiGroup.make("heartbeatMonitors")
  .add(
    ...monitorEndpoints({
      kind: "heartbeat",
      schemas: {
        monitor: HeartbeatMonitor,
        input: HeartbeatMonitorInput,
        definition: HeartbeatMonitorDefinition,
        update: HeartbeatMonitorUpdate,
        page: HeartbeatMonitorPage,
        eventPage: HeartbeatEventPage
      },
      texts: {
        create:
          "The job should request the `ping_url` when it has finished. No incident opens before the first ping.",
        get: "The monitor, with the time when the next ping is due.",
        update: "Changes the given fields. A change never makes a monitor go down.",
        remove: "The ping URL responds with 404 immediately.",
        pause: "Pings are recorded but change nothing, and no deadline passes.",
        resume:
          "The monitor is `new` again. If it has ever received a ping, the next one is due as " +
          "if a ping had arrived now.",
        events:
          "Pings and missed pings, newest first, kept for 30 days by default. Pings beyond 60 per minute " +
          "count, but are not listed."
      },
      own: [rotateUrl, getPingKey, rotatePingKey]
    })
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/heartbeat")
  .annotateMerge(
    OpenApi.annotations({
      title: "Heartbeat monitors",
      description:
        "Monitors of jobs that run elsewhere and send pings. A monitor goes down when a ping " +
        "is missing, or a run fails, takes too long or starts too early. A ping is a `GET`, `HEAD` or `POST` request to the monitor's `ping_url` (success), or to `ping_url` followed by `/start`, `/fail`, `/log` or the job's exit status (`/0` to `/255`). " +
        "`?rid=<uuid>` distinguishes overlapping runs. The response is `OK` once the ping has been saved."
    })
  ) {}
