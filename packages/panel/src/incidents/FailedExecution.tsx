import type { ExecutionDetail, ExecutionId, IncidentDetail } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { LastSuccessComparison } from "../executions/LastSuccessComparison.tsx"
import { neighboursOptions } from "../executions/neighbours.ts"
import { executionQueries } from "../executions/queries.ts"
import { Problem } from "../ui/messages/Problem.tsx"

/** Returns the last execution that failed before the incident opened. Undefined for monitors. */
export const failedExecutionOf = ({ timeline }: IncidentDetail): ExecutionId | undefined =>
  timeline.findLast(({ execution_id, type }) => type === "failure" && execution_id !== null)
    ?.execution_id ?? undefined

/** Compares the execution that opened a task's incident with the last successful one. */
export const FailedExecution = ({ executionId }: { readonly executionId: ExecutionId }) => {
  const { workspaceId } = useWorkspace()
  const { data, error, refetch } = useQuery(executionQueries.one(workspaceId, executionId))
  // Executions can be deleted earlier than incidents.
  if (data === undefined) return <Problem error={error} retry={refetch} />
  return <Difference execution={data} />
}

const Difference = ({ execution }: { readonly execution: ExecutionDetail }) => {
  const { workspaceId } = useWorkspace()
  const { data, error, refetch } = useQuery(neighboursOptions(workspaceId, execution))
  if (data?.good === undefined) return <Problem error={error} retry={refetch} />
  return <LastSuccessComparison execution={execution} good={data.good} />
}
