import type { RecentRun, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQueries, type UseQueryResult } from "@tanstack/react-query"
import { createContext, use } from "react"
import { clientOf } from "../data/client.ts"
import { Skeleton } from "../ui/layout/Page.tsx"
import { formatDuration } from "../ui/values/format.ts"
import { EmptyValue } from "../ui/values/Time.tsx"

type RunsByTask = ReadonlyMap<string, ReadonlyArray<RecentRun>>

interface Recent {
  readonly runs: RunsByTask
  readonly isLoading: boolean
}

export const RecentRunsContext = createContext<Recent>({ runs: new Map(), isLoading: false })

/** The number of tasks per request, which is one page of the list. */
const maxTasks = 100

/**
 * The query for recent runs. It is polled, because live events would refetch it after every run.
 */
const recentRunsOptions = (workspaceId: WorkspaceId, ids: ReadonlyArray<string>) =>
  queryOptions({
    queryKey: ["w", workspaceId, "recent", ids],
    refetchInterval: 15_000,
    queryFn: async ({ signal }): Promise<RunsByTask> => {
      const query = { task_ids: ids.join(","), runs: maxRuns }
      const { data } = await clientOf(workspaceId).activity.recent(query, { signal })
      return new Map(data.map(({ runs, task_id }) => [task_id, runs]))
    }
  })

const combine = (pages: ReadonlyArray<UseQueryResult<RunsByTask>>): Recent => ({
  runs: new Map(pages.flatMap(({ data }) => (data === undefined ? [] : [...data]))),
  isLoading: pages.some(({ isPending }) => isPending)
})

/** Returns the latest runs for each loaded task, with one request per page. */
export const useRecentRuns = (workspaceId: WorkspaceId, ids: ReadonlyArray<string>): Recent =>
  useQueries({
    queries: Array.from({ length: Math.ceil(ids.length / maxTasks) }, (_, page) =>
      recentRunsOptions(workspaceId, ids.slice(page * maxTasks, (page + 1) * maxTasks))
    ),
    combine
  })

const maxRuns = 12
const chartHeight = 20
const pitch = 6

const fills: Readonly<Record<string, string>> = { failed: "fill-bad", succeeded: "fill-ok" }

/** A bar chart of the latest runs' results and durations, newest on the right. */
export const RecentRuns = ({ taskId }: { readonly taskId: string }) => {
  const recent = use(RecentRunsContext)
  const runs = recent.runs.get(taskId)
  if (runs === undefined)
    return recent.isLoading ? <Skeleton className="h-4 w-16" /> : <EmptyValue />
  const longest = Math.max(1, ...runs.map(({ duration_ms }) => duration_ms ?? 0))
  const summary = inShort(runs)
  return (
    <svg
      role="img"
      aria-label={summary}
      width={maxRuns * pitch}
      height={chartHeight}
      className="ml-auto block"
    >
      <title>{summary}</title>
      {runs.slice(0, maxRuns).map(({ duration_ms, id, status }, index) => {
        const height = duration_ms === null ? 3 : Math.max(4, (duration_ms / longest) * chartHeight)
        return (
          <rect
            key={id}
            x={(maxRuns - 1 - index) * pitch}
            y={chartHeight - height}
            width={4}
            height={height}
            rx={1}
            className={fills[status] ?? "fill-edge"}
          />
        )
      })}
    </svg>
  )
}

const inShort = (runs: ReadonlyArray<RecentRun>): string => {
  const failed = runs.filter(({ status }) => status === "failed").length
  const [latest] = runs
  return [
    runs.length === 1 ? "The latest run" : `The latest ${runs.length} runs`,
    failed === 0 ? "none failed" : `${failed} failed`,
    ...(latest?.duration_ms == null ? [] : [`the last took ${formatDuration(latest.duration_ms)}`])
  ].join(", ")
}
