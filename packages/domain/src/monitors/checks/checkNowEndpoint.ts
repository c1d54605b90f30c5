import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { Access } from "../../shared/Access.ts"
import { docs } from "../../shared/docs.ts"
import { Conflict, NotFound } from "../../shared/Errors.ts"
import { monitorParams } from "../monitorEndpoints.ts"
import type { MonitorKind } from "../Monitor.ts"
import { monitorNouns } from "../monitorNouns.ts"

/** Creates the endpoint that checks a monitor's target immediately. */
export const checkNowEndpoint = <Monitor extends Schema.Top>(kind: MonitorKind, monitor: Monitor) =>
  HttpApiEndpoint.post("check", "/:monitor_id/check", {
    params: monitorParams(kind),
    success: monitor.pipe(HttpApiSchema.status(202)),
    error: [NotFound, Conflict]
  })
    .annotate(Access, Access.scope("monitors:write"))
    .annotateMerge(
      docs(
        `Check ${monitorNouns[kind]} now`,
        "Requests a check, which starts within a second. The monitor shows the result a moment later. If the monitor is paused, the response is 409."
      )
    )
