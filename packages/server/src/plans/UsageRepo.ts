import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Day } from "@scheduling/domain/billing/Usage"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export interface UsageRow {
  readonly day: Day
  readonly executions: number
  readonly notifications: number
  readonly most_seats: number | null
  readonly last_seats: number | null
  readonly most_monitors: number | null
  readonly last_monitors: number | null
}

/** The numbers of seats and monitors before a given day, after the last earlier change. */
export interface CountsBeforeDay {
  readonly seats: number
  readonly monitors: number
}

/**
 * Usage that is a current count instead of a running total, with the table whose rows are counted.
 */
const constantUsage = { seats: "memberships", monitors: "monitors" } as const

/**
 * Reads and writes workspaces' daily usage. `UsageCounter` counts executions. Notifications are
 * counted by the statement that records a delivery.
 */
export class UsageRepo extends Context.Service<
  UsageRepo,
  {
    /** Lists daily usage, including executions that are not yet counted. */
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      from: Day,
      to: Day
    ) => Effect.Effect<ReadonlyArray<UsageRow>>
    readonly findBefore: (
      workspaceId: AuthorizedWorkspaceId,
      day: Day
    ) => Effect.Effect<CountsBeforeDay>
    /**
     * Sums the executions that are already counted. Use it only for checks that can lag behind (see
     * `docs/billing.md`).
     */
    readonly countExecutionsSince: (
      workspaceId: AuthorizedWorkspaceId,
      day: Day
    ) => Effect.Effect<number>
    /**
     * Locks the user and the user's workspaces until the transaction ends, so that the number of
     * seats cannot change.
     */
    readonly holdSeatsOf: (userId: string) => Effect.Effect<ReadonlyArray<string>>
    /** Records the number of members or monitors after a change. The workspaces must be locked. */
    readonly record: (
      what: keyof typeof constantUsage,
      workspaceIds: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/plans/UsageRepo") {
  static readonly layer: Layer.Layer<UsageRepo, never, SqlClient.SqlClient> = Layer.effect(
    UsageRepo,
    Effect.map(SqlClient.SqlClient, (sql) =>
      UsageRepo.of({
        list: Effect.fn("UsageRepo.list")(function* (workspaceId, from, to) {
          // The progress is read in a separate statement, because the planner needs a literal
          // value. The second statement reads it again, because more executions may have been
          // counted in between.
          const [progress] = yield* sql<{ readonly counted_up_to: string }>`
            SELECT counted_up_to::text
            FROM execution_stats_progress`
          return yield* sql<UsageRow>`
            SELECT
              day::text, sum(executions)::float8 AS executions,
              sum(notifications)::float8 AS notifications,
              max(most_seats) AS most_seats, max(last_seats) AS last_seats,
              max(most_monitors) AS most_monitors, max(last_monitors) AS last_monitors
            FROM (
              SELECT
                day, executions, notifications,
                most_seats, last_seats, most_monitors, last_monitors
              FROM usage_days
              WHERE workspace_id = ${workspaceId}
              UNION ALL
              SELECT (finished_at AT TIME ZONE 'UTC')::date, count(*), 0, NULL, NULL, NULL, NULL
              FROM executions
              WHERE workspace_id = ${workspaceId}
                AND attempts_count > 0
                AND ordinal > ${progress?.counted_up_to ?? "0"}::bigint
                AND ordinal > (SELECT counted_up_to FROM execution_stats_progress)
              GROUP BY 1
            ) AS used
            WHERE day BETWEEN ${from}::date AND ${to}::date
            GROUP BY day
            ORDER BY day`
        }, Effect.orDie),

        findBefore: Effect.fn("UsageRepo.findBefore")(function* (workspaceId, day) {
          const lastKnown = (what: keyof typeof constantUsage) => sql`
            coalesce((
              SELECT ${sql(`last_${what}`)}
              FROM usage_days
              WHERE workspace_id = ${workspaceId}
                AND day < ${day}::date
                AND ${sql(`last_${what}`)} IS NOT NULL
              ORDER BY day DESC
              LIMIT 1
            ), 0)`
          const [row] = yield* sql<CountsBeforeDay>`
            SELECT ${lastKnown("seats")} AS seats, ${lastKnown("monitors")} AS monitors`
          return row ?? { seats: 0, monitors: 0 }
        }, Effect.orDie),

        countExecutionsSince: Effect.fn("UsageRepo.countExecutionsSince")(function* (
          workspaceId,
          day
        ) {
          const [row] = yield* sql<{ readonly executions: number }>`
              SELECT coalesce(sum(executions), 0)::float8 AS executions
              FROM usage_days
              WHERE workspace_id = ${workspaceId}
                AND day >= ${day}::date`
          return row?.executions ?? 0
        }, Effect.orDie),

        holdSeatsOf: Effect.fn("UsageRepo.holdSeatsOf")(function* (userId) {
          yield* sql`
            SELECT id
            FROM users
            WHERE id = ${userId}
            FOR UPDATE`
          const rows = yield* sql<{ readonly id: string }>`
            SELECT id
            FROM workspaces
            WHERE id IN (
              SELECT workspace_id
              FROM memberships
              WHERE user_id = ${userId}
            )
            ORDER BY id
            FOR NO KEY UPDATE`
          return rows.map(({ id }) => id)
        }, Effect.orDie),

        record: Effect.fn("UsageRepo.record")(function* (what, workspaceIds, now) {
          if (workspaceIds.length === 0) return
          const [most, lastColumn, table] = [
            sql(`most_${what}`),
            sql(`last_${what}`),
            sql(constantUsage[what])
          ]
          yield* sql`
            INSERT INTO usage_days AS used (workspace_id, day, ${most}, ${lastColumn})
            SELECT workspace_id, (${now}::timestamptz AT TIME ZONE 'UTC')::date, amount, amount
            FROM (
              SELECT asked.workspace_id, count(counted.workspace_id)::int AS amount
              FROM unnest(${workspaceIds}::uuid[]) AS asked (workspace_id)
              LEFT JOIN ${table} AS counted ON counted.workspace_id = asked.workspace_id
              GROUP BY asked.workspace_id
            ) AS counts
            ORDER BY workspace_id
            ON CONFLICT (workspace_id, day) DO UPDATE
            SET
              ${most} = greatest(used.${most}, EXCLUDED.${most}),
              ${lastColumn} = EXCLUDED.${lastColumn}`
        }, Effect.orDie)
      })
    )
  )
}
