import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { Access } from "../../shared/Access.ts"
import { docs } from "../../shared/docs.ts"
import { NotFound } from "../../shared/Errors.ts"
import { monitorEndpoints, monitorParams } from "../monitorEndpoints.ts"
import { HeartbeatEventPage } from "./HeartbeatEvent.ts"
import {
  HeartbeatMonitor,
  HeartbeatMonitorDefinition,
  HeartbeatMonitorInput,
  HeartbeatMonitorPage,
  HeartbeatMonitorUpdate
} from "./HeartbeatMonitor.ts"

const rotateUrl = HttpApiEndpoint.post("rotateUrl", "/:monitor_id/rotate-url", {
  params: monitorParams,
  success: HeartbeatMonitor,
  error: NotFound
})
  .annotate(Access, Access.scope("monitors:write"))
  .annotateMerge(
    docs("Replace the ping URL", "Gives a new `ping_url`. The old one answers 404 at once.")
  )

export class HeartbeatMonitorsApi extends HttpApiGroup.make("heartbeatMonitors")
  .add(
    ...monitorEndpoints({
      noun: "a heartbeat monitor",
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
          "Let the job request its `ping_url` when it is done. The monitor waits for the first ping " +
          "and alerts nobody until then.",
        get: "The monitor, and when a ping is due.",
        update: "Changes the fields that are given. No change by itself makes a monitor go down.",
        remove: "Its ping URL answers 404 at once.",
        pause: "Pings are recorded and change nothing, and no deadline passes.",
        resume:
          "It is `new` again. One that was pinged before waits for its next ping as from now on.",
        events:
          "Its pings and what was missed, newest first, kept for 30 days by default. Pings " +
          "beyond 60 per minute count, but are not listed."
      },
      own: [rotateUrl]
    })
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
