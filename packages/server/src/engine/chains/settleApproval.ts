import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { executionError } from "@scheduling/domain/executions/ExecutionError"
import type { Actor } from "@scheduling/domain/shared/Actor"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { makeSettlement } from "../Run.ts"
import type { CancelResult, StoppableRun } from "../transitions/cancel.ts"
import { stoppableRunColumns } from "../transitions/cancel.ts"
import { finish } from "../transitions/finish.ts"

/** A decision about a step that waits for approval, and the person who made it. */
export interface ApprovalDecision {
  readonly approved: boolean
  readonly by: Actor
  readonly note: string | null
}

/** Returns the result of a step that a person has approved or rejected. */
const endOf = ({ approved, by, note }: ApprovalDecision, now_ms: number) => {
  const response_body = JSON.stringify({
    approved,
    by,
    at: new Date(now_ms).toISOString(),
    note
  })
  if (approved) return { status: "succeeded", error: null, response_body } as const
  const reason = note === null ? "" : `: ${note.replaceAll(/\s+/g, " ")}`
  const message = `${by.name ?? "somebody"} rejected the step${reason}`
  return {
    status: "failed",
    error: executionError("approval_rejected", message),
    response_body
  } as const
}

/**
 * Ends a step that waits for approval. Returns null if it no longer waits. Call it in a
 * transaction, so that only one decision counts.
 */
export const settleApproval = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  id: string,
  decision: ApprovalDecision
) {
  const [run] = yield* sql<StoppableRun>`
    SELECT ${sql.literal(stoppableRunColumns)}
    FROM runs
    WHERE workspace_id = ${workspaceId}
      AND id = ${id}
      AND pause ->> 'kind' = 'approve'
      AND NOT cancel_requested
    FOR UPDATE`
  if (run === undefined) return null
  const settlements = [
    makeSettlement(run, null, {
      ...endOf(decision, run.now_ms),
      awaited: true,
      started: true,
      finished_ms: run.now_ms
    })
  ]
  const decided: CancelResult = { settlements, settled: yield* finish(sql, settlements) }
  return decided
})
