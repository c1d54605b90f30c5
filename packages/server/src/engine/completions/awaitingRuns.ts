import { Effect } from "effect"
import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { downtimeSql } from "../Absences.ts"
import { joinCallOfRun } from "../joinCallOfRun.ts"
import { positionColumn } from "../chains/ChainRuns.ts"
import type { RunPause, StartedRun } from "../Run.ts"
import type { RunState } from "../RunState.ts"
import { isClockTrusted, type ClockLimit } from "../laneTurns.ts"

/**
 * How long this node has been connected without interruption. Jobs and agents may have started to
 * retry less often while no node was up. Jobs whose completion has been awaited only since this
 * node connected are not affected.
 */
export interface NodeUptime extends ClockLimit {
  readonly forMs: number
  /** True once all jobs and agents have had time to reconnect. */
  readonly isLong: boolean
}

/**
 * SQL for whether the completion of a row of `runs` is overdue, not counting downtime of the
 * service, or whether its pause is over. The first comparison lets PostgreSQL use the index.
 */
export const isCompletionOverdue = (
  sql: SqlClient.SqlClient,
  { forMs, isLong, ...trust }: NodeUptime
) => sql`
      completes_by <= now()
      AND ${isClockTrusted(sql, trust)}
      AND (
        runs.pause IS NOT NULL
        OR (
          completes_by <= now() - ${sql.literal(downtimeSql("runs.awaiting_since"))}
          AND (${isLong} OR awaiting_since > now() - ${forMs} * interval '1 millisecond')
        )
      )`

/**
 * SQL for the milliseconds until the next deadline of a completion. Null if no run awaits its
 * completion.
 */
export const completionDueInMsSql = `(
  SELECT date_part('epoch', completes_by - now()) * 1000
  FROM runs
  WHERE completes_by > now()
  ORDER BY completes_by
  LIMIT 1
)`

/**
 * An unfinished run whose completion was reported or is overdue, with the options that decide what
 * follows.
 */
export interface AwaitingRun extends Pick<
  StartedRun,
  "id" | "workspace_id" | "task_id" | "kind" | "attempt" | "lost" | "position"
> {
  readonly state: RunState
  readonly lease_owner: number | null
  readonly cancel_requested: boolean
  /** The status code of the response to the call. Null while the call is in progress. */
  readonly answered_with: number | null
  readonly retry_count: number
  readonly call_options: CallOptions | null
  readonly timeout_seconds: number
  /** What the run waits for. Null if it awaits its completion. */
  readonly pause: RunPause | null
  /** The secrets that the call uses. */
  readonly secret_names: ReadonlyArray<string> | null
  readonly started_ms: number
  readonly now_ms: number
}

const columns = `
  runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.attempt, runs.lost, runs.state,
  runs.lease_owner, runs.cancel_requested, ${positionColumn()},
  CASE runs.state WHEN 'awaiting' THEN runs.status_code END AS answered_with,
  coalesce(call.retry_count, 0) AS retry_count, call.call_options,
  coalesce(call.timeout_seconds, 30) AS timeout_seconds, call.secret_names, runs.pause,
  date_part('epoch', runs.attempt_started_at) * 1000 AS started_ms,
  date_part('epoch', now()) * 1000 AS now_ms`

const batch = 500

export const findOverdue = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  uptime: NodeUptime
) {
  const runs = yield* sql<AwaitingRun>`
    SELECT ${sql.literal(columns)}
    FROM runs
    ${sql.literal(joinCallOfRun)}
    WHERE ${isCompletionOverdue(sql, uptime)}
    LIMIT ${batch}`
  return { runs, isFull: runs.length === batch }
})

export const findCompletionDueInMs = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly ms: number | null }>`SELECT ${sql.literal(completionDueInMsSql)} AS ms`,
    ([row]) => row?.ms ?? null
  )

/** Finds the runs among the given ones that have not finished, by id. */
export const findUnfinished = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  asked: ReadonlyArray<{ readonly workspace_id: string; readonly id: string }>
) {
  const column = columnsOf(asked)
  const rows = yield* sql<AwaitingRun>`
    SELECT ${sql.literal(columns)}
    FROM unnest(
      ${column("uuid", ({ workspace_id }) => workspace_id)},
      ${column("uuid", ({ id }) => id)}
    ) AS asked (workspace_id, id)
    CROSS JOIN LATERAL (
      SELECT *
      FROM runs
      WHERE runs.workspace_id = asked.workspace_id
        AND runs.id = asked.id
      OFFSET 0
    ) AS runs
    ${sql.literal(joinCallOfRun)}`
  return new Map(rows.map((row) => [row.id, row]))
})
