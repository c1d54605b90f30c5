import { cancelledError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { positionColumn } from "../chains/ChainRuns.ts"
import { type SettleableRun, makeSettlement } from "../Run.ts"
import { makeSettleRuns } from "../settleRuns.ts"
import { isCancelledUnclaimed, isClaimOverdue } from "../runsForWorkers.ts"

const batch = 500

interface UnclaimedRun extends SettleableRun {
  readonly cancel_requested: boolean
  readonly labels: ReadonlyArray<string>
  readonly worker_wait_seconds: number
}

/**
 * Finishes runs that were cancelled while their worker was lost, and runs that no worker claimed in
 * time. Call it only after all agents have had time to reconnect after downtime of the service.
 * Several nodes can do this at the same time: the fence of `finish` finishes each run only once,
 * and never a run that a worker has claimed in the meantime.
 */
export const finishUnclaimed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  agentsToo: boolean
) {
  const columns = sql.literal(`
    id, workspace_id, task_id, kind, attempt, cancel_requested, worker_wait_seconds,
    run_on -> 'labels' AS labels, ${positionColumn()}`)
  const runs = yield* sql<UnclaimedRun>`
    SELECT ${columns}
    FROM runs
    WHERE ${sql.literal(isClaimOverdue)}
      AND ${agentsToo}
      AND NOT cancel_requested
    UNION ALL
    SELECT ${columns}
    FROM runs
    WHERE ${sql.literal(isCancelledUnclaimed)}
    LIMIT ${batch}`
  const settleRuns = yield* makeSettleRuns(sql)
  yield* settleRuns(runs.map((run) => makeSettlement(run, null, endOf(run))))
})

const endOf = ({ cancel_requested, labels, worker_wait_seconds }: UnclaimedRun) =>
  cancel_requested
    ? ({ status: "cancelled", error: cancelledError } as const)
    : ({
        status: "failed",
        error: executionError(
          "no_worker",
          `no worker with the labels ${labels.join(", ")} claimed the run within ${worker_wait_seconds} s`
        )
      } as const)
