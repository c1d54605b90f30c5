import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"

interface HavingCalendar {
  readonly workspace_id: string
  readonly firing_options: FiringOptions | null
}

export interface CalendarRow {
  readonly workspace_id: string
  readonly url: string
  readonly days: ReadonlyArray<string>
  readonly fetched_at: Date
  readonly error: string | null
}

/** Finds the calendars that tasks refer to. Runs no statement if no task has one. */
export const findCalendars = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  tasks: ReadonlyArray<{ readonly workspace_id: string; readonly url: string | undefined }>
) {
  const named = new Map(
    tasks.flatMap(({ url, workspace_id }) =>
      url === undefined ? [] : [[`${workspace_id} ${url}`, { url, workspace_id }] as const]
    )
  )
  if (named.size === 0) return new Map<string, CalendarRow>()
  const column = columnsOf([...named.values()])
  const rows = yield* sql<CalendarRow>`
    SELECT workspace_id, url, days, fetched_at, error
    FROM unnest(
      ${column("uuid", ({ workspace_id }) => workspace_id)},
      ${column("text", ({ url }) => url)}
    ) AS named (workspace_id, url)
    JOIN calendars USING (workspace_id, url)`
  return new Map(rows.map((row) => [`${row.workspace_id} ${row.url}`, row]))
})

/**
 * Finds the days that each task's calendar excludes. Tasks with the same calendar share one set.
 */
export const calendarDaysOf = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  tasks: ReadonlyArray<HavingCalendar>
) {
  const calendars = yield* findCalendars(
    sql,
    tasks.map((task) => ({ ...task, url: task.firing_options?.excluded_calendar?.url }))
  )
  const days = new Map([...calendars].map(([key, row]) => [key, new Set(row.days)]))
  return ({ firing_options, workspace_id }: HavingCalendar): ReadonlySet<string> | undefined =>
    days.get(`${workspace_id} ${firing_options?.excluded_calendar?.url}`)
})
