import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { cancelledError } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { positionColumn } from "../chains/ChainRuns.ts"
import { type SettleableRun, type Settlement, makeSettlement } from "../Run.ts"
import type { RunState } from "../RunState.ts"
import { finish } from "./finish.ts"
import { emptySettleResult, type SettleResult } from "../SettleResult.ts"

/** A row of `runs` that the transaction has locked. */
export interface StoppableRun extends SettleableRun {
  readonly state: RunState
  readonly lease_owner: number | null
  /** The status code of the response, if the run awaits its completion. */
  readonly answered_with: number | null
  readonly now_ms: number
}

export const stoppableRunColumns = `
  id, workspace_id, task_id, kind, state, attempt, lease_owner,
  CASE state WHEN 'awaiting' THEN status_code END AS answered_with,
  date_part('epoch', now()) * 1000 AS now_ms, ${positionColumn()}`

/**
 * Cancels one run. Call it in a transaction, so that the row stays locked until the result is
 * written. A pending delayed task finishes with its run, so its row is locked before that of the
 * run, as in all transactions.
 */
export const cancelRun = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  id: string
) {
  const runs = yield* sql<StoppableRun>`
    WITH locked AS MATERIALIZED (
      SELECT id
      FROM tasks
      WHERE status = 'pending'
        AND id = (
          SELECT task_id
          FROM runs
          WHERE workspace_id = ${workspaceId}
            AND id = ${id}
        )
      FOR NO KEY UPDATE
    )
    SELECT ${sql.literal(stoppableRunColumns)}
    FROM runs
    WHERE workspace_id = ${workspaceId}
      AND id = ${id}
      AND NOT cancel_requested
      AND (SELECT count(*) FROM locked) >= 0
    FOR UPDATE`
  const stopped: StopResult = {
    ...(yield* recordAsCancelled(sql, runs)),
    requested: yield* requestCancel(sql, runs)
  }
  return stopped
})

export interface StopResult extends CancelResult {
  /** Executions whose nodes were asked to abort the call. */
  readonly requested: ReadonlyArray<string>
}

export interface CancelResult {
  readonly settlements: ReadonlyArray<Settlement>
  readonly settled: SettleResult
}

/**
 * Returns the result of a cancelled run. If the run awaits its completion, its attempt was made.
 */
const endOf = ({ answered_with, now_ms, state }: StoppableRun) =>
  ({
    status: "cancelled",
    error: cancelledError,
    awaited: state === "awaiting",
    started: state === "awaiting",
    finished_ms: state === "awaiting" ? now_ms : null,
    status_code: answered_with
  }) as const

/** Whether no call is in progress, so that the run can be finished here. */
export const hasNoCallInProgress = ({ state }: StoppableRun): boolean => state !== "running"

/**
 * Finishes runs that are queued or await their completion. Call `makeAfterSettled` after the
 * commit.
 */
export const recordAsCancelled = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const settlements = runs
    .filter(hasNoCallInProgress)
    .map((run) => makeSettlement(run, run.lease_owner, endOf(run)))
  const recorded: CancelResult = {
    settlements,
    settled: settlements.length === 0 ? emptySettleResult : yield* finish(sql, settlements)
  }
  return recorded
})

/** Asks the nodes of running runs to abort the calls. Returns the ids of these runs. */
export const requestCancel = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const running = runs.filter((run) => !hasNoCallInProgress(run))
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
