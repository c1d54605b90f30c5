import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { cronTaskDefaults, defaultPreviewCount } from "@scheduling/domain/cron/CronTask"
import { previewInSteps } from "@scheduling/schedules/slots"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { FairQueue, yieldToEventLoop } from "../../http/index.ts"
import { runInSlices } from "../../core/index.ts"
import { findCalendars } from "../../engine/index.ts"
import { checkPrecision } from "../Schedules.ts"
import type { PreviewQuery } from "./PreviewQuery.ts"

/** Lists the next slots of a schedule, which need not belong to a task. */
export const previewSchedule = (sql: SqlClient.SqlClient) => {
  // One preview at a time, because slices of several would together block the event loop.
  const turns = new FairQueue<AuthorizedWorkspaceId>({ atOnce: 1, pause: yieldToEventLoop })

  return Effect.fn("CronTasks.preview")(
    function* (workspaceId: AuthorizedWorkspaceId, query: PreviewQuery) {
      const {
        count = defaultPreviewCount,
        excluded_calendar: url,
        excluded_days,
        precision,
        schedule,
        timezone = cronTaskDefaults.timezone,
        ...bounds
      } = query
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
      const steps = previewInSteps(schedule, timezone, now, count, rule)
      return { data: yield* turns.run(workspaceId, runInSlices(steps)) }
    },
    Effect.catchTag("SqlError", Effect.die)
  )
}
