import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication } from "../../auth/Authentication.ts"
import { Access } from "../../shared/Access.ts"
import { docs } from "../../shared/docs.ts"
import { Conflict, NotFound } from "../../shared/Errors.ts"
import { testEndpoint } from "../checks/testEndpoint.ts"
import { monitorEndpoints, monitorParams } from "../monitorEndpoints.ts"
import { SslCheck } from "./SslCheck.ts"
import { SslEventPage } from "./SslEvent.ts"
import {
  SslMonitor,
  SslMonitorDefinition,
  SslMonitorInput,
  SslMonitorPage,
  SslMonitorUpdate
} from "./SslMonitor.ts"

const check = HttpApiEndpoint.post("check", "/:monitor_id/check", {
  params: monitorParams("ssl"),
  success: SslMonitor.pipe(HttpApiSchema.status(202)),
  error: [NotFound, Conflict]
})
  .annotate(Access, Access.scope("monitors:write"))
  .annotateMerge(
    docs(
      "Check a certificate now",
      "Requests a check, which starts within a second. The monitor shows the result a moment later. After a " +
        "first failed check, the second check follows at least a minute later, at " +
        "`next_check_at`. If the monitor is paused, the response is 409."
    )
  )

export class SslMonitorsApi extends HttpApiGroup.make("sslMonitors")
  .add(
    ...monitorEndpoints({
      kind: "ssl",
      schemas: {
        monitor: SslMonitor,
        input: SslMonitorInput,
        definition: SslMonitorDefinition,
        update: SslMonitorUpdate,
        page: SslMonitorPage,
        eventPage: SslEventPage
      },
      texts: {
        create: "The certificate is checked immediately, and then at regular intervals.",
        get: "The monitor, with the result of the latest check.",
        update: "Changes the given fields, and checks the certificate again.",
        pause: "The certificate is not checked until the monitor is resumed.",
        resume: "The monitor is `new` again, and the certificate is checked immediately.",
        events: "The results of checks, newest first, kept for 30 days by default."
      },
      own: [
        check,
        testEndpoint("ssl", {
          input: SslMonitorInput,
          result: SslCheck,
          note: "The response takes up to 15 seconds."
        })
      ]
    })
  )
  .middleware(Authentication)
  .prefix("/v1/workspaces/:workspace_id/monitors/ssl")
  .annotateMerge(
    OpenApi.annotations({
      title: "SSL monitors",
      description:
        "Monitors of the certificates of servers. A monitor announces that a certificate will " +
        "expire, and goes down when clients would reject it, or when the server is unreachable " +
        "in two checks a minute apart."
    })
  ) {}
