import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { dayMs } from "../../core/index.ts"
import { scheduledColumns } from "../Schedules.ts"
import type { ScheduledRow } from "../Schedules.ts"
import { orWorkspaceNotFound } from "../../store/index.ts"
import type { NotFound } from "@scheduling/domain/shared/Errors"

/** A calendar that this node reads. Each claim increments `version`. */
export interface ClaimedCalendar {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly url: string
  readonly days: ReadonlyArray<string>
  readonly failures: number
  readonly is_applied: boolean
  readonly version: number
  /** The lane of the account that created the workspace. */
  readonly lane: bigint
}

type Named = Pick<ClaimedCalendar, "workspace_id" | "url">

/** The result of reading a calendar. */
export interface CalendarReadResult {
  readonly days: ReadonlyArray<string>
  readonly fetched_at: Date | undefined
  readonly error: string | null
  readonly failures: number
  readonly is_applied: boolean
  readonly check_at: Date
}

export class CalendarsRepo extends Context.Service<
  CalendarsRepo,
  {
    readonly isKnown: (workspaceId: AuthorizedWorkspaceId, url: string) => Effect.Effect<boolean>
    /** Counts the calendars that the workspace's tasks use, and finds its account's lane. */
    readonly findUse: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<{ readonly used: number; readonly lane: bigint }>
    readonly insert: (
      calendar: Named & {
        readonly id: string
        readonly days: ReadonlyArray<string>
        readonly check_at: Date
      },
      now: Date
    ) => Effect.Effect<void, NotFound>
    /**
     * Removes calendars that no task uses, unless a task was saved with the calendar in the last
     * hour.
     */
    readonly removeUnused: (workspaceId: AuthorizedWorkspaceId, now: Date) => Effect.Effect<void>
    /**
     * Removes the oldest unused calendars until there is room for another calendar. Lock the
     * workspace first.
     */
    readonly removeOldestUnused: (
      workspaceId: AuthorizedWorkspaceId,
      atMost: number
    ) => Effect.Effect<void>
    /** Leases some of the calendars that are due. Accounts are served in turn. */
    readonly claimDue: (
      now: Date,
      until: Date,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ClaimedCalendar>>
    /** Writes the result, unless another node has claimed the calendar in the meantime. */
    readonly updateFound: (
      claimed: ClaimedCalendar,
      found: CalendarReadResult
    ) => Effect.Effect<void>
    /** Postpones the next read. */
    readonly postpone: (claimed: ClaimedCalendar, until: Date) => Effect.Effect<void>
    readonly listTasks: (calendar: Named, after: string) => Effect.Effect<ReadonlyArray<string>>
    /** Locks the task if it is active and uses the calendar. */
    readonly lockTask: (calendar: Named, id: string) => Effect.Effect<Option.Option<ScheduledRow>>
    readonly updateNextFire: (row: ScheduledRow) => Effect.Effect<void>
  }
>()("@scheduling/server/tasks/calendars/CalendarsRepo") {
  static readonly layer: Layer.Layer<CalendarsRepo, never, SqlClient.SqlClient> = Layer.effect(
    CalendarsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const url = sql.literal("firing_options #>> '{excluded_calendar,url}'")

      return CalendarsRepo.of({
        isKnown: Effect.fn("CalendarsRepo.isKnown")(function* (workspaceId, url) {
          const rows = yield* sql`
            SELECT id
            FROM calendars
            WHERE workspace_id = ${workspaceId}
              AND url = ${url}`
          return rows.length > 0
        }, Effect.orDie),

        findUse: Effect.fn("CalendarsRepo.findUse")(function* (workspaceId) {
          const [row] = yield* sql<{ readonly used: number; readonly lane: bigint }>`
            SELECT
              lane,
              (
                SELECT count(*)::int
                FROM calendars
                WHERE calendars.workspace_id = workspaces.id
                  AND EXISTS (
                    SELECT
                    FROM tasks
                    WHERE tasks.workspace_id = ${workspaceId}
                      AND ${url} = calendars.url
                  )
              ) AS used
            FROM workspaces
            WHERE id = ${workspaceId}`
          return row ?? { used: 0, lane: 0n }
        }, Effect.orDie),

        insert: Effect.fn("CalendarsRepo.insert")(function* (calendar, now) {
          const days = JSON.stringify(calendar.days)
          yield* sql`
              INSERT INTO calendars ${sql.insert({ ...calendar, days, fetched_at: now, used_at: now })}
              ON CONFLICT DO NOTHING`
        }, orWorkspaceNotFound),

        removeUnused: Effect.fn("CalendarsRepo.removeUnused")(function* (workspaceId, now) {
          yield* sql`
            DELETE FROM calendars
            WHERE workspace_id = ${workspaceId}
              AND used_at < ${new Date(now.getTime() - dayMs / 24)}
              AND NOT EXISTS (
                SELECT
                FROM tasks
                WHERE tasks.workspace_id = ${workspaceId}
                  AND ${url} = calendars.url
              )`
        }, Effect.orDie),

        removeOldestUnused: Effect.fn("CalendarsRepo.removeOldestUnused")(function* (
          workspaceId,
          atMost
        ) {
          yield* sql`
            DELETE FROM calendars
            WHERE workspace_id = ${workspaceId}
              AND id IN (
                SELECT id
                FROM calendars
                WHERE workspace_id = ${workspaceId}
                  AND NOT EXISTS (
                    SELECT
                    FROM tasks
                    WHERE tasks.workspace_id = ${workspaceId}
                      AND ${url} = calendars.url
                  )
                ORDER BY used_at DESC, id DESC
                OFFSET ${atMost - 1}
              )`
        }, Effect.orDie),

        claimDue: Effect.fn("CalendarsRepo.claimDue")(function* (now, until, limit) {
          return yield* sql<ClaimedCalendar>`
            UPDATE calendars
            SET check_at = ${until}, version = version + 1
            FROM workspaces
            WHERE workspaces.id = calendars.workspace_id
              AND calendars.id IN (
                SELECT id
                FROM calendars
                WHERE check_at <= ${now}
                  AND id IN (
                    SELECT id
                    FROM (
                      SELECT
                        due.id, due.check_at,
                        row_number() OVER (PARTITION BY owners.lane ORDER BY due.check_at) AS turn
                      FROM calendars AS due
                      JOIN workspaces AS owners ON owners.id = due.workspace_id
                      WHERE due.check_at <= ${now}
                    ) AS turns
                    ORDER BY turn, check_at
                    LIMIT ${limit}
                  )
                FOR UPDATE SKIP LOCKED
              )
            RETURNING
              calendars.id, workspace_id, url, days, failures, is_applied, version, workspaces.lane`
        }, Effect.orDie),

        updateFound: Effect.fn("CalendarsRepo.updateFound")(function* (claimed, found) {
          yield* sql`
            UPDATE calendars
            SET
              days = ${JSON.stringify(found.days)}::jsonb,
              fetched_at = coalesce(${found.fetched_at ?? null}::timestamptz, fetched_at),
              error = ${found.error},
              failures = ${found.failures},
              is_applied = ${found.is_applied},
              check_at = ${found.check_at}
            WHERE workspace_id = ${claimed.workspace_id}
              AND id = ${claimed.id}
              AND version = ${claimed.version}`
        }, Effect.orDie),

        postpone: Effect.fn("CalendarsRepo.postpone")(function* (claimed, until) {
          yield* sql`
            UPDATE calendars
            SET check_at = ${until}
            WHERE workspace_id = ${claimed.workspace_id}
              AND id = ${claimed.id}
              AND version = ${claimed.version}`
        }, Effect.orDie),

        listTasks: Effect.fn("CalendarsRepo.listTasks")(function* (calendar, after) {
          const rows = yield* sql<{ readonly id: string }>`
            SELECT id
            FROM tasks
            WHERE workspace_id = ${calendar.workspace_id}
              AND status = 'active'
              AND ${url} = ${calendar.url}
              AND id > ${after}
            ORDER BY id
            LIMIT 500`
          return rows.map(({ id }) => id)
        }, Effect.orDie),

        lockTask: Effect.fn("CalendarsRepo.lockTask")(function* (calendar, id) {
          const rows = yield* sql<ScheduledRow>`
            SELECT ${sql.literal(scheduledColumns)}
            FROM tasks
            WHERE workspace_id = ${calendar.workspace_id}
              AND id = ${id}
              AND status = 'active'
              AND schedule IS NOT NULL
              AND ${url} = ${calendar.url}
            FOR UPDATE`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        updateNextFire: Effect.fn("CalendarsRepo.updateNextFire")(function* (row) {
          yield* sql`
            UPDATE tasks
            SET next_fire_at = ${row.next_fire_at}
            WHERE workspace_id = ${row.workspace_id}
              AND id = ${row.id}`
        }, Effect.orDie)
      })
    })
  )
}
