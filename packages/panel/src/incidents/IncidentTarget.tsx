import type { ExecutionDetail, IncidentDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { targetOf } from "../data/targets.ts"
import { executionQueries } from "../executions/queries.ts"
import { useExecutionTarget } from "../executions/useExecutionTarget.ts"
import { TargetText } from "../ui/values/TargetText.tsx"
import { useDefinitionAt } from "../versions/useDefinitionAt.ts"
import { failedExecutionOf } from "./FailedExecution.tsx"

/** Shows what failed: the call of a task, or the address that a monitor checks. */
export const IncidentTarget = ({ incident }: { readonly incident: IncidentDetail }) => {
  const { workspaceId } = useWorkspace()
  const failed = failedExecutionOf(incident)
  const { data: execution } = useQuery({
    ...executionQueries.one(workspaceId, failed ?? ""),
    enabled: failed !== undefined
  })
  return execution === undefined ? (
    <DefinedTarget incident={incident} />
  ) : (
    <CalledTarget execution={execution} />
  )
}

const CalledTarget = ({ execution }: { readonly execution: ExecutionDetail }) => {
  const target = useExecutionTarget(execution)
  return target === undefined ? null : <TargetText target={target} />
}

const DefinedTarget = ({
  incident: { opened_at, subject }
}: {
  readonly incident: IncidentDetail
}) => {
  const definition = useDefinitionAt(subject, opened_at)
  const target = definition && targetOf(definition)
  return target === undefined ? null : <TargetText target={target} />
}
