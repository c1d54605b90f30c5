import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { cronTaskDefaults, defaultPreviewCount } from "@scheduling/domain/cron/CronTask"
import { previewSlotsInSteps } from "@scheduling/schedules/slots"
import { missingTimingProblem, taskTimingProblem } from "@scheduling/domain/schedules/Timing"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { FieldProblem } from "@scheduling/domain/shared/ValidationIssue"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { FairQueue, yieldToEventLoop } from "../../http/index.ts"
import { runInSlices } from "../../core/index.ts"
import { findCalendars } from "../../engine/index.ts"
import { checkPrecision } from "../Schedules.ts"
import { withTimingColumn } from "../timingColumn.ts"
import type { PreviewQuery } from "./PreviewQuery.ts"

/**
 * Creates the function that lists a schedule's next slots, for a schedule that need not belong to a
 * task.
 */
export const previewSchedule = (sql: SqlClient.SqlClient) => {
  // Only one preview is computed at a time, because several together would block the event loop for
  // too long.
  const turns = new FairQueue<AuthorizedWorkspaceId>({ atOnce: 1, pause: yieldToEventLoop })

  return Effect.fn("CronTasks.preview")(
    function* (workspaceId: AuthorizedWorkspaceId, query: PreviewQuery) {
      const {
        count = defaultPreviewCount,
        excluded_calendar: url,
        excluded_days,
        precision,
        schedule: expression,
        every,
        anchor,
        timezone = cronTaskDefaults.timezone,
        ...bounds
      } = query
      const schedule = yield* previewedSchedule({ anchor, every, schedule: expression })
      yield* checkPrecision(schedule, precision)
      const now = yield* DateTime.nowAsDate
      const calendars = yield* findCalendars(sql, [{ workspace_id: workspaceId, url }])
      const [calendar] = calendars.values()
      if (url !== undefined && calendar === undefined) {
        return yield* ValidationFailed.at(
          ["excluded_calendar"],
          "not_found",
          "must be the calendar of a task in this workspace"
        )
      }
      const rule = {
        ...bounds,
        ...(calendar !== undefined && { calendar_days: new Set(calendar.days) }),
        ...(excluded_days !== undefined && { excluded_days: excluded_days.split(",") })
      }
      const steps = previewSlotsInSteps(schedule, timezone, now, count, rule)
      return { data: yield* turns.run(workspaceId, runInSlices(steps)) }
    },
    Effect.catchTag("SqlError", Effect.die)
  )
}

/**
 * Returns the schedule to preview. Fails if the timing fields contradict each other or are all
 * missing, because the schema of the query parameters has no such rules.
 */
const previewedSchedule = (given: {
  readonly anchor: string | undefined
  readonly every: string | undefined
  readonly schedule: string | undefined
}) => {
  const { anchor, every, schedule } = given
  const timing = {
    ...(anchor !== undefined && { anchor }),
    ...(every !== undefined && { every }),
    ...(schedule !== undefined && { schedule })
  }
  const column = withTimingColumn(timing).schedule
  const problem = taskTimingProblem(timing) ?? (column == null ? missingTimingProblem : undefined)
  return problem === undefined && column != null
    ? Effect.succeed(column)
    : Effect.fail(ValidationFailed.at(...failureOf(problem ?? missingTimingProblem)))
}

const failureOf = ({ code, path, problem }: FieldProblem) => [path, code, problem] as const
