import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { ExcludedCalendar } from "@scheduling/domain/cron/FiringOptions"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { findCalendars } from "../engine/index.ts"
import { timestampOf } from "../store/index.ts"
import type { TaskRef } from "./TaskRow.ts"

/**
 * Records that a task with the calendar was saved. Returns false if the workspace no longer has the
 * calendar.
 */
export const recordCalendarUse = Effect.fn("CalendarsOfTasksRepo.useCalendar")(function* (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  url: string,
  now: Date
) {
  const rows = yield* sql`
    UPDATE calendars
    SET used_at = ${now}
    WHERE workspace_id = ${workspaceId}
      AND url = ${url}
    RETURNING id`
  return rows.length > 0
}, Effect.orDie)

/** Returns which of the two URLs have calendars that other tasks of the workspace use. */
export const calendarsUsedByOthers = Effect.fn("CalendarsOfTasksRepo.calendarsUsedByOthers")(
  function* (sql: SqlClient.SqlClient, task: TaskRef, urls: readonly [string, string]) {
    const rows = yield* sql<{ readonly url: string }>`
    SELECT DISTINCT firing_options #>> '{excluded_calendar,url}' AS url
    FROM tasks
    WHERE workspace_id = ${task.workspace_id}
      AND kind IN ('cron', 'chain')
      AND id <> ${task.id}
      AND firing_options #>> '{excluded_calendar,url}' IN (${urls[0]}, ${urls[1]})`
    return new Set(rows.map(({ url }) => url))
  },
  Effect.orDie
)

interface HavingCalendar {
  readonly workspace_id: string
  readonly excluded_calendar?: ExcludedCalendar | null
}

/** Adds its calendar's state to each record. */
export const withCalendarStates =
  (sql: SqlClient.SqlClient) =>
  <Record extends HavingCalendar>(
    records: ReadonlyArray<Record>
  ): Effect.Effect<ReadonlyArray<Record>> =>
    findCalendars(
      sql,
      records.map(({ excluded_calendar, workspace_id }) => ({
        workspace_id,
        url: excluded_calendar?.url
      }))
    ).pipe(
      Effect.map((found) =>
        found.size === 0
          ? records
          : records.map((record) => {
              const row = found.get(`${record.workspace_id} ${record.excluded_calendar?.url}`)
              if (row === undefined) return record
              const { days, error, fetched_at, url } = row
              const excluded_calendar: ExcludedCalendar = {
                url,
                fetched_at: timestampOf(fetched_at),
                error,
                days: days.length
              }
              return { ...record, excluded_calendar }
            })
      ),
      Effect.orDie
    )
