import { Effect } from "effect"
import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { awaySince } from "../Absences.ts"
import { callOfRun } from "../callOfRun.ts"
import { placeColumn } from "../chains/ChainRuns.ts"
import type { Settlement, StartedRun } from "../Run.ts"
import type { RunState } from "../RunState.ts"
import { isTrusted, type Trust } from "../starting/Turns.ts"

/**
 * How long the node that looks has been there without a break. While nobody was there, jobs and
 * agents may have begun to wait longer between their tries. Only jobs that are awaited since then
 * have found somebody from the beginning.
 */
export interface Presence extends Trust {
  readonly forMs: number
  /** True once all jobs and agents have had the time to come back. */
  readonly isLong: boolean
}

/**
 * The condition for rows of `runs` whose completion has not come in time, though the service was
 * there. The first comparison is for their index.
 */
export const isOverdue = (sql: SqlClient.SqlClient, { forMs, isLong, ...trust }: Presence) => sql`
      completes_by <= now()
      AND ${isTrusted(sql, trust)}
      AND completes_by <= now() - ${sql.literal(awaySince("runs.awaiting_since"))}
      AND (${isLong} OR awaiting_since > now() - ${forMs} * interval '1 millisecond')`

/** SQL for the milliseconds until the next completion is due. Null if none is awaited. */
export const completionDueInMs = `(
  SELECT date_part('epoch', completes_by - now()) * 1000
  FROM runs
  WHERE completes_by > now()
  ORDER BY completes_by
  LIMIT 1
)`

/**
 * Takes runs from their nodes, because their calls were answered and their jobs go on. A run that
 * somebody has cancelled meanwhile is overdue at once. The fence is that of `settle`. Returns the
 * ids of those that were still held.
 */
export const beginAwaiting = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const column = columnsOf(settlements.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  const rows = yield* sql<{ readonly id: string }>`
    UPDATE runs
    SET
      state = 'awaiting',
      lease_owner = NULL,
      awaiting_since = now(),
      completes_by = CASE
        WHEN runs.cancel_requested THEN now()
        ELSE to_timestamp(input.completes_by_ms / 1000)
      END,
      started_at = CASE
        WHEN runs.attempt > 1 THEN runs.started_at
        ELSE coalesce(to_timestamp(input.started_ms / 1000), runs.started_at)
      END,
      attempt_started_at = coalesce(to_timestamp(input.started_ms / 1000), runs.attempt_started_at),
      status_code = input.status_code,
      error = NULL
    FROM unnest(
      ${column("uuid", ({ workspace_id }) => workspace_id)},
      ${column("uuid", ({ id }) => id)},
      ${column("int4", ({ attempt }) => attempt)},
      ${column("int4", ({ lease_owner }) => lease_owner)},
      ${column("float8", ({ started_ms }) => started_ms)},
      ${column("float8", ({ completes_by_ms }) => completes_by_ms)},
      ${column("int4", ({ status_code }) => status_code)}
    ) AS input (
      workspace_id, id, attempt, lease_owner, started_ms, completes_by_ms, status_code
    )
    WHERE runs.workspace_id = input.workspace_id
      AND runs.id = input.id
      AND runs.attempt = input.attempt
      AND runs.lease_owner = input.lease_owner
      AND runs.state = 'running'
    RETURNING runs.id`
  return rows.map(({ id }) => id)
})

/** A run that is to be completed, and what decides what comes after it. */
export interface AwaitingRun extends Pick<
  StartedRun,
  "id" | "workspace_id" | "task_id" | "kind" | "attempt" | "lost" | "place"
> {
  readonly state: RunState
  readonly lease_owner: number | null
  readonly cancel_requested: boolean
  /** Null if its call is still under way. */
  readonly answered_with: number | null
  readonly retry_count: number
  readonly call_options: CallOptions | null
  readonly timeout_seconds: number
  readonly started_ms: number
  readonly now_ms: number
}

const columns = `
  runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.attempt, runs.lost, runs.state,
  runs.lease_owner, runs.cancel_requested, ${placeColumn()},
  CASE runs.state WHEN 'awaiting' THEN runs.status_code END AS answered_with,
  coalesce(call.retry_count, 0) AS retry_count, call.call_options,
  coalesce(call.timeout_seconds, 30) AS timeout_seconds,
  date_part('epoch', runs.attempt_started_at) * 1000 AS started_ms,
  date_part('epoch', now()) * 1000 AS now_ms`

const batch = 500

export const findOverdue = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  presence: Presence
) {
  const runs = yield* sql<AwaitingRun>`
    SELECT ${sql.literal(columns)}
    FROM runs
    ${sql.literal(callOfRun)}
    WHERE ${isOverdue(sql, presence)}
    LIMIT ${batch}`
  return { runs, isFull: runs.length === batch }
})

export const findCompletionDueInMs = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly ms: number | null }>`SELECT ${sql.literal(completionDueInMs)} AS ms`,
    ([row]) => row?.ms ?? null
  )

/** Those of the runs that have not ended, by id. */
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
    ${sql.literal(callOfRun)}`
  return new Map(rows.map((row) => [row.id, row]))
})
