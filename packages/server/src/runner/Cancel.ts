import type { ChainStep } from "@scheduling/domain/chains/Chain"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { followUp } from "./ChainRuns.ts"
import type { Settlement } from "./Run.ts"
import { settle } from "./Settle.ts"

export interface TaskRef {
  readonly workspace_id: string
  readonly task_id: string
}

/** Removes runs that have not started and leave no trace: nobody was promised anything yet. Answers their ids. */
export const withdrawRuns = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: TaskRef & { readonly only: "delayed" | "slots to come" }
) {
  const removed = yield* sql<{ readonly id: string }>`
    DELETE FROM runs
    WHERE workspace_id = ${options.workspace_id}
      AND task_id = ${options.task_id}
      AND state = 'queued'
      AND started_at IS NULL
      AND ${options.only === "delayed" ? sql`kind = 'delayed'` : sql`slot_at > now()`}
    RETURNING id`
  return removed.map(({ id }) => id)
})

/** A row of `runs` that the transaction has locked. */
export interface StoppableRun {
  readonly id: string
  readonly workspace_id: string
  readonly state: "queued" | "running"
  readonly attempt: number
  readonly lease_owner: number | null
  readonly chain_run_id: string | null
  readonly step_index: number | null
  readonly steps: ReadonlyArray<ChainStep> | null
}

export const stoppableColumns = [
  "id",
  "workspace_id",
  "state",
  "attempt",
  "lease_owner",
  "chain_run_id",
  "step_index",
  "steps"
] satisfies ReadonlyArray<keyof StoppableRun>

/** Stops one run. Call it in a transaction: the row stays locked until what became of it is written. */
export const cancelRun = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: TaskRef & { readonly execution_id: string }
) {
  const runs = yield* sql<StoppableRun>`
    SELECT ${sql.literal(stoppableColumns.join(", "))}
    FROM runs
    WHERE workspace_id = ${run.workspace_id}
      AND task_id = ${run.task_id}
      AND id = ${run.execution_id}
      AND NOT cancel_requested
    FOR UPDATE`
  const stopped: Stopped = {
    ended: yield* recordAsCancelled(sql, runs),
    requested: yield* requestCancel(sql, runs)
  }
  return stopped
})

export interface Stopped {
  /** Executions, and the runs of chains that they were of. */
  readonly ended: ReadonlyArray<string>
  /** Their nodes are to cut them off. */
  readonly requested: ReadonlyArray<string>
}

/** Ends those that are queued. Answers what ended. */
export const recordAsCancelled = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const queued = runs.filter((run) => run.state === "queued")
  if (queued.length === 0) return []
  const now = yield* Clock.currentTimeMillis
  const settled = yield* settle(
    sql,
    queued.map((run) => cancelledSettlement(run, now))
  )
  return settled.ended
})

/** Asks the nodes of those that are running to cut them off. Answers which. */
export const requestCancel = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const running = runs.filter((run) => run.state === "running")
  const ids = running.map((run) => run.id)
  if (ids.length > 0) {
    yield* sql`
      UPDATE runs
      SET cancel_requested = true
      WHERE workspace_id = ANY (${[...new Set(running.map((run) => run.workspace_id))]}::uuid[])
        AND id = ANY (${ids}::uuid[])`
  }
  return ids
})

const cancelledSettlement = (run: StoppableRun, nowMs: number): Settlement => ({
  id: run.id,
  chain_run_id: run.chain_run_id,
  workspace_id: run.workspace_id,
  attempt: run.attempt,
  lease_owner: run.lease_owner,
  status: "cancelled",
  retry_delay_ms: null,
  lost: false,
  started: false,
  started_ms: null,
  finished_ms: null,
  status_code: null,
  response_body: null,
  error: "cancelled",
  ...followUp(run, [], "cancelled", nowMs)
})
