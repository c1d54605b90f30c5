import { errorLine } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import type { Settlement } from "../Run.ts"

/**
 * The maximum number of lines per batch of up to 1,000 results. It prevents a target that is down
 * from filling the disk with log lines.
 */
const maxLines = 20

/** Logs one line for each execution whose failure is final and was written. */
export const logFailures = (
  settlements: ReadonlyArray<Settlement>,
  ids: ReadonlyArray<string>
): Effect.Effect<void> => {
  const failed = settlements.filter(({ status }) => status === "failed")
  if (failed.length === 0) return Effect.void
  const written = new Set(ids)
  const lines = failed.filter(({ id }) => written.has(id))
  const left = lines.length - maxLines
  return Effect.forEach(lines.slice(0, maxLines), line, { discard: true }).pipe(
    Effect.andThen(left > 0 ? Effect.logWarning(`${left} more executions failed`) : Effect.void)
  )
}

const line = (run: Settlement) =>
  Effect.logWarning("an execution failed").pipe(
    Effect.annotateLogs({
      execution_id: run.id,
      task_id: run.task_id,
      workspace_id: run.workspace_id,
      attempts: run.attempt,
      status_code: run.status_code,
      reason: run.error && errorLine(run.error)
    })
  )
