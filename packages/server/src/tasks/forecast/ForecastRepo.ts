import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { DstOverlap } from "@scheduling/domain/schedules/Schedule"
import type { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { type ForecastRange, maxTasksPerBusyMinute } from "@scheduling/domain/forecast/Forecast"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dayMs } from "../../core/index.ts"
import { findCalendars } from "../../engine/index.ts"
import { columnsOf } from "../../store/index.ts"

/**
 * A schedule with the options that determine its slots (its rhythm). All tasks with the same rhythm
 * have the same slots.
 */
export interface SlotTiming {
  /** A cron expression, or an interval as text. */
  readonly schedule: string
  readonly timezone: TimeZone
  readonly dst_overlap: DstOverlap
  /** The options that limit or exclude slots, as JSON. */
  readonly bounds: string
  /**
   * The days that its calendar excludes, counted from 1970-01-01. Rhythms with the same calendar
   * share one set.
   */
  readonly calendar_days?: ReadonlySet<number> | undefined
}

/** A rhythm, and how many tasks have it. */
export interface CountedSlotTiming extends SlotTiming {
  readonly tasks: number
}

export interface ForecastTaskRow {
  readonly kind: ExecutionKind
  readonly id: string
  readonly name: string | null
}

/** Reads a workspace's schedules for the forecast. Minutes are counted from 1970-01-01. */
export class ForecastRepo extends Context.Service<
  ForecastRepo,
  {
    readonly listRhythms: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<ReadonlyArray<CountedSlotTiming>>
    readonly countDelayed: (
      workspaceId: AuthorizedWorkspaceId,
      range: ForecastRange
    ) => Effect.Effect<ReadonlyArray<{ readonly minute: number; readonly runs: number }>>
    /** Lists a few tasks of each rhythm. `index` is the index of the rhythm in the argument. */
    readonly listOfRhythms: (
      workspaceId: AuthorizedWorkspaceId,
      rhythms: ReadonlyArray<SlotTiming>
    ) => Effect.Effect<ReadonlyArray<ForecastTaskRow & { readonly index: number }>>
    /** Lists a few of the delayed tasks of each minute. */
    readonly listDelayed: (
      workspaceId: AuthorizedWorkspaceId,
      range: ForecastRange,
      minutes: ReadonlyArray<number>
    ) => Effect.Effect<ReadonlyArray<ForecastTaskRow & { readonly minute: number }>>
  }
>()("@scheduling/server/tasks/forecast/ForecastRepo") {
  static readonly layer: Layer.Layer<ForecastRepo, never, SqlClient.SqlClient> = Layer.effect(
    ForecastRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const bounds = sql.literal(boundsColumn)

      const minute = sql.literal("floor(date_part('epoch', run_at) / 60)::integer")

      const pending = (workspaceId: AuthorizedWorkspaceId, { from, to }: ForecastRange) => sql`
        workspace_id = ${workspaceId}
        AND status = 'pending'
        AND run_at >= ${new Date(from)}
        AND run_at < ${new Date(to)}`

      return ForecastRepo.of({
        listRhythms: Effect.fn("ForecastRepo.listRhythms")(function* (workspaceId) {
          const rows = yield* sql<CountedSlotTiming & { readonly url: string | null }>`
            SELECT
              schedule, timezone, dst_overlap, ${bounds} AS bounds,
              firing_options #>> '{excluded_calendar,url}' AS url, count(*)::integer AS tasks
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind IN ('cron', 'chain')
              AND status = 'active'
              AND schedule IS NOT NULL
            GROUP BY schedule, timezone, dst_overlap, 4, 5`
          return yield* withCalendarDays(sql, workspaceId, rows)
        }, Effect.orDie),

        countDelayed: Effect.fn("ForecastRepo.countDelayed")(function* (workspaceId, range) {
          return yield* sql<{ readonly minute: number; readonly runs: number }>`
            SELECT ${minute} AS minute, count(*)::integer AS runs
            FROM tasks
            WHERE ${pending(workspaceId, range)}
            GROUP BY 1`
        }, Effect.orDie),

        listOfRhythms: Effect.fn("ForecastRepo.listOfRhythms")(function* (workspaceId, rhythms) {
          const column = columnsOf(rhythms)
          return yield* sql<ForecastTaskRow & { readonly index: number }>`
            SELECT kind, id, name, index
            FROM (
              SELECT
                tasks.kind, tasks.id, tasks.name, (rhythm.ordinal - 1)::integer AS index,
                row_number() OVER (PARTITION BY rhythm.ordinal ORDER BY tasks.id) AS place
              FROM unnest(
                ${column("text", ({ schedule }) => schedule)},
                ${column("text", ({ timezone }) => timezone)},
                ${column("text", ({ dst_overlap }) => dst_overlap)},
                ${column("text", (rhythm) => rhythm.bounds)}
              ) WITH ORDINALITY AS rhythm (schedule, timezone, dst_overlap, bounds, ordinal)
              JOIN tasks USING (schedule, timezone, dst_overlap)
              WHERE tasks.workspace_id = ${workspaceId}
                AND tasks.kind IN ('cron', 'chain')
                AND tasks.status = 'active'
                AND ${bounds} = rhythm.bounds
            ) AS colliding
            WHERE place <= ${maxTasksPerBusyMinute}`
        }, Effect.orDie),

        listDelayed: Effect.fn("ForecastRepo.listDelayed")(function* (workspaceId, range, minutes) {
          return yield* sql<ForecastTaskRow & { readonly minute: number }>`
            SELECT kind, id, name, minute
            FROM (
              SELECT
                kind, id, name, ${minute} AS minute,
                row_number() OVER (PARTITION BY ${minute} ORDER BY id) AS place
              FROM tasks
              WHERE ${pending(workspaceId, range)}
                AND ${minute} = ANY (${minutes}::integer[])
            ) AS colliding
            WHERE place <= ${maxTasksPerBusyMinute}`
        }, Effect.orDie)
      })
    })
  )
}

/** SQL for a task's options that limit or exclude slots. */
export const boundsColumn = `(
  coalesce(firing_options, '{}')
    - '{precision, jitter_seconds, on_pause, pause_after_failures}'::text[]
)::text`

/** Adds its calendar's excluded days to each row that has a calendar's URL. */
export const withCalendarDays = Effect.fnUntraced(function* <
  Row extends { readonly url: string | null }
>(sql: SqlClient.SqlClient, workspaceId: AuthorizedWorkspaceId, rows: ReadonlyArray<Row>) {
  const calendars = yield* findCalendars(
    sql,
    rows.map((row) => ({ workspace_id: workspaceId, url: row.url ?? undefined }))
  )
  const days = new Map(
    [...calendars.values()].map((calendar) => [
      calendar.url,
      new Set(calendar.days.map((day) => Date.parse(day) / dayMs))
    ])
  )
  return rows.map(({ url, ...row }) => ({
    ...row,
    calendar_days: url === null ? undefined : days.get(url)
  }))
})
