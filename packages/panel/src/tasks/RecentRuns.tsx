import type { RecentRun, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQueries, type UseQueryResult } from "@tanstack/react-query"
import { createContext, use } from "react"
import { clientOf } from "../data/client.ts"
import { classes } from "../ui/classes.ts"
import { Skeleton } from "../ui/layout/Page.tsx"
import { duration } from "../ui/values/format.ts"
import { None } from "../ui/values/Time.tsx"

type RunsOfTasks = ReadonlyMap<string, ReadonlyArray<RecentRun>>

const none: RunsOfTasks = new Map()

interface Recent {
  readonly runs: RunsOfTasks
  readonly isLoading: boolean
}

export const RecentRunsOf = createContext<Recent>({ runs: none, isLoading: false })

/** As many as the API tells of at once, which is a page of the list. */
const atOnce = 100

/** They are asked for by the clock: otherwise each run that ends would ask again. */
const recentRunsOptions = (workspaceId: WorkspaceId, ids: ReadonlyArray<string>) =>
  queryOptions({
    queryKey: ["w", workspaceId, "recent", ids],
    refetchInterval: 15_000,
    queryFn: async ({ signal }): Promise<RunsOfTasks> => {
      const query = { task_ids: ids.join(","), runs: shown }
      const { data } = await clientOf(workspaceId).activity.recent(query, { signal })
      return new Map(data.map(({ runs, task_id }) => [task_id, runs]))
    }
  })

const combine = (pages: ReadonlyArray<UseQueryResult<RunsOfTasks>>): Recent => ({
  runs: new Map(pages.flatMap(({ data }) => [...(data ?? none)])),
  isLoading: pages.some(({ isPending }) => isPending)
})

/** The latest runs of each task that a list has read, with one request per page. */
export const useRecentRuns = (workspaceId: WorkspaceId, ids: ReadonlyArray<string>): Recent =>
  useQueries({
    queries: Array.from({ length: Math.ceil(ids.length / atOnce) }, (_, page) =>
      recentRunsOptions(workspaceId, ids.slice(page * atOnce, (page + 1) * atOnce))
    ),
    combine
  })

const shown = 12
const high = 20
const pitch = 6

/** The outcomes and durations of the latest runs, the newest at the right. */
export const RecentRuns = ({ taskId }: { readonly taskId: string }) => {
  const recent = use(RecentRunsOf)
  const runs = recent.runs.get(taskId)
  if (runs === undefined) return recent.isLoading ? <Skeleton className="h-4 w-16" /> : <None />
  const longest = Math.max(1, ...runs.map(({ duration_ms }) => duration_ms ?? 0))
  return (
    <svg
      role="img"
      aria-label={inShort(runs)}
      width={shown * pitch}
      height={high}
      className="block"
    >
      <title>{inShort(runs)}</title>
      {runs.slice(0, shown).map(({ duration_ms, id, status }, index) => {
        const height = duration_ms === null ? 3 : Math.max(4, (duration_ms / longest) * high)
        return (
          <rect
            key={id}
            x={(shown - 1 - index) * pitch}
            y={high - height}
            width={4}
            height={height}
            rx={1}
            className={classes(
              status === "failed" ? "fill-bad" : status === "succeeded" ? "fill-ok" : "fill-edge"
            )}
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
    ...(latest?.duration_ms == null ? [] : [`the last took ${duration(latest.duration_ms)}`])
  ].join(", ")
}
