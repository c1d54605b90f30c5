import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { UptimePeriod } from "../monitors/MonitorUptime.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound } from "../shared/Errors.ts"
import { TaskUptimeSeries, TaskUptime } from "./TaskUptime.ts"

const read = Access.scope("executions:read")
const query = { period: Schema.optionalKey(UptimePeriod) }

/**
 * Creates the endpoints for a task's success rate and durations over long periods. `path` is the
 * task's path.
 */
export const uptimeEndpoints = <
  const Path extends `/${string}`,
  Params extends Schema.Struct.Fields
>({
  noun,
  params,
  path
}: {
  /** The kind of task with its article, such as `a cron task`. */
  readonly noun: `a ${string}`
  readonly path: Path
  readonly params: Params
}) =>
  [
    HttpApiEndpoint.get("uptime", `${path}/uptime`, {
      params,
      query,
      success: TaskUptime,
      error: NotFound
    })
      .annotate(Access, read)
      .annotateMerge(
        docs(
          `Get the success rate of ${noun}`,
          "Finished runs by their scheduled time, independent of " +
            "`RETENTION_DAYS`. Five-minute statistics are kept for 7 days, hourly statistics for 90 days, and daily statistics for 400 days."
        )
      ),

    HttpApiEndpoint.get("series", `${path}/series`, {
      params,
      query,
      success: TaskUptimeSeries,
      error: NotFound
    })
      .annotate(Access, read)
      .annotateMerge(
        docs(
          `Get the success rate of ${noun} over time`,
          "The uptime statistics for every five minutes, hour or day of the period, for charts."
        )
      )
  ] as const
