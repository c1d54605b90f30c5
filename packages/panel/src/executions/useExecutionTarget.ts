import type { ExecutionDetail } from "@scheduling/sdk"
import { targetOf } from "../data/targets.ts"
import { useDefinitionAt } from "../versions/useDefinitionAt.ts"

/** Returns what an execution called, such as `POST https://example.com/run`. */
export const useExecutionTarget = ({
  attempts,
  kind,
  scheduled_for,
  started_at,
  step,
  task_id
}: ExecutionDetail): string | undefined => {
  const definition = useDefinitionAt({ kind, id: task_id }, started_at ?? scheduled_for)
  const request = attempts.at(-1)?.request
  if (request != null) return `${request.method} ${request.url}`
  return definition && targetOf(definition, step)
}
