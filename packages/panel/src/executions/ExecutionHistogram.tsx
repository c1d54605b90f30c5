import { useQuery } from "@tanstack/react-query"
import { useWorkspace } from "../data/client.ts"
import { Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useNow } from "../ui/values/clock.ts"
import { ExecutionBars } from "./ExecutionBars.tsx"
import { barsOf, statsQueryOf, type Period, totalOfBar } from "./histogram.ts"
import { executionQueries } from "./queries.ts"
import type { ExecutionSearch } from "./search.ts"

/** The executions over time. Selecting a period in the chart filters the list by that period. */
export const ExecutionHistogram = ({
  filter,
  search
}: {
  readonly search: ExecutionSearch
  readonly filter: (period: Period) => void
}) => {
  const { workspaceId } = useWorkspace()
  const { task_id } = search
  const query = statsQueryOf(search, useNow(60_000))
  const { data, error, refetch } = useQuery(
    executionQueries.stats(workspaceId, { ...query, ...(task_id !== undefined && { task_id }) })
  )
  if (data === undefined) {
    return error === null ? (
      <Skeleton className="mb-4 h-32" />
    ) : (
      <div className="mb-4">
        <Problem error={error} retry={refetch} />
      </div>
    )
  }
  const bars = barsOf(data.buckets, query.bucket ?? "hour")
  if (!bars.some((bar) => totalOfBar(bar) > 0)) return null
  return (
    <div className="mb-4">
      <ExecutionBars
        bars={bars}
        period={search}
        onPeriod={filter}
        note={`${task_id === undefined ? "All tasks" : "This task"}, per ${query.bucket}`}
      />
    </div>
  )
}
