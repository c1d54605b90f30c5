import type { ChainStep } from "@scheduling/domain/chains/Chain"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { followUp } from "./ChainRuns.ts"
import type { Settlement } from "./Run.ts"
import { settle } from "./Settle.ts"

interface TaskRef {
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

const batch = 1_000

interface StoppedRun {
  readonly id: string
  readonly workspace_id: string
  readonly state: "queued" | "running"
  readonly attempt: number
  readonly lease_owner: number | null
  readonly chain_run_id: string | null
  readonly step_index: number | null
  readonly steps: ReadonlyArray<ChainStep> | null
}

/**
 * Stops the unfinished runs of a task, or one of them. Call it in a transaction: the rows stay
 * locked until what became of them is written. A step of a chain may end while its row is waited for:
 * then the next one is in the queue, and is seen by looking again.
 */
export const stopRuns = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: TaskRef & {
    readonly execution_id: string | null
  }
) {
  const requested: Array<string> = []
  const ended: Array<string> = []
  const unstopped = sql`
    workspace_id = ${options.workspace_id}
    AND task_id = ${options.task_id}
    AND (${options.execution_id}::uuid IS NULL OR id = ${options.execution_id}::uuid)
    AND NOT cancel_requested`
  for (;;) {
    const runs = yield* sql<StoppedRun>`
      SELECT id, workspace_id, state, attempt, lease_owner, chain_run_id, step_index, steps
      FROM runs
      WHERE ${unstopped}
      ORDER BY id
      LIMIT ${batch}
      FOR UPDATE`
    const queued = runs.filter((run) => run.state === "queued")
    const running = runs.filter((run) => run.state === "running").map((run) => run.id)
    if (queued.length > 0) {
      const now = yield* Clock.currentTimeMillis
      const settled = yield* settle(
        sql,
        queued.map((run) => cancelledSettlement(run, now))
      )
      ended.push(...settled.ended)
    }
    if (running.length > 0) {
      yield* sql`
        UPDATE runs
        SET cancel_requested = true
        WHERE workspace_id = ${options.workspace_id}
          AND id = ANY (${running}::uuid[])`
      requested.push(...running)
    }
    const left = yield* sql`
      SELECT
      FROM runs
      WHERE ${unstopped}
      LIMIT 1`
    if (left.length === 0) return { ended, requested }
  }
})

const cancelledSettlement = (run: StoppedRun, nowMs: number): Settlement => ({
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
