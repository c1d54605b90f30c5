import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { Access } from "../../shared/Access.ts"
import { docs } from "../../shared/docs.ts"
import { Conflict, NotFound } from "../../shared/Errors.ts"
import { monitorEndpoints, monitorParams } from "../monitorEndpoints.ts"
import { SslEventPage } from "./SslEvent.ts"
import {
  SslMonitor,
  SslMonitorDefinition,
  SslMonitorInput,
  SslMonitorPage,
  SslMonitorUpdate
} from "./SslMonitor.ts"

const check = HttpApiEndpoint.post("check", "/:monitor_id/check", {
  params: monitorParams,
  success: SslMonitor.pipe(HttpApiSchema.status(202)),
  error: [NotFound, Conflict]
})
  .annotate(Access, Access.scope("monitors:write"))
  .annotateMerge(
    docs(
      "Check a certificate now",
      "Asks for a check within a second. The monitor shows the result a moment later. After a " +
        "failed check, the second one comes no sooner than a minute later, and `next_check_at` " +
        "says when. A monitor that is paused answers 409."
    )
  )

export class SslMonitorsApi extends HttpApiGroup.make("sslMonitors")
  .add(
    ...monitorEndpoints({
      noun: "an SSL monitor",
      schemas: {
        monitor: SslMonitor,
        input: SslMonitorInput,
        definition: SslMonitorDefinition,
        update: SslMonitorUpdate,
        page: SslMonitorPage,
        eventPage: SslEventPage
      },
      texts: {
        create: "Its certificate is checked at once, and then from time to time.",
        get: "The monitor, and what the latest check found.",
        update: "Changes the fields that are given, and checks again.",
        pause: "It is not checked until resumed.",
        resume: "It is `new` again, and its certificate is checked at once.",
        events: "What each check found, newest first, kept for 30 days by default."
      },
      own: [check]
    })
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
