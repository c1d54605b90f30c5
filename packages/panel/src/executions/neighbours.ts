import type { Execution, ExecutionDetail, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { executionQueries } from "./queries.ts"

/** The fields that identify other executions of the same task or chain step. */
type Place = Pick<
  ExecutionDetail,
  "finished_at" | "id" | "kind" | "scheduled_for" | "step" | "task_id"
>

export interface Neighbours {
  readonly previous: Execution | undefined
  /** The last successful execution before this one. */
  readonly good: ExecutionDetail | undefined
}

/** The number of executions that are searched for one of the same step. */
const searched = 50

const timesSpan = 32

const isOtherOf =
  ({ id, step }: Place) =>
  (other: Execution) =>
    other.id !== id && other.step === step

/**
 * Finds the execution of the same task, or of the same chain step, before this one, and the last
 * successful one before it.
 */
export const neighboursOptions = (workspaceId: WorkspaceId, place: Place) => {
  const { id, scheduled_for, task_id } = place
  const { executions } = clientOf(workspaceId)
  return queryOptions({
    // This key is not below the key of all executions, because past executions do not change with
    // each live event.
    queryKey: ["w", workspaceId, "neighbours", id, place.finished_at],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Neighbours> => {
      const before = { task_id, to: scheduled_for }
      const [earlier, succeeded] = await Promise.all([
        executions.list({ ...before, limit: searched }, { signal }),
        executions.list({ ...before, status: "succeeded", limit: searched }, { signal })
      ])
      const good = succeeded.data.find(isOtherOf(place))
      return {
        previous: earlier.data.find(isOtherOf(place)),
        good: good && (await executions.get(good.id, {}, { signal }))
      }
    }
  })
}

/**
 * Finds the latest executions of the same task, or of the same chain step, after this one. Live
 * events refetch them.
 */
const newerOptions = (workspaceId: WorkspaceId, place: Place) =>
  queryOptions({
    queryKey: [...executionQueries.all(workspaceId), place.id, "newer"],
    queryFn: async ({ signal }) => {
      const query = { task_id: place.task_id, from: justAfter(place), limit: searched }
      const { data, next_cursor } = await clientOf(workspaceId).executions.list(query, { signal })
      return { newer: data.filter(isOtherOf(place)), isWhole: next_cursor === null }
    }
  })

const justAfter = ({ scheduled_for }: Place) =>
  new Date(Date.parse(scheduled_for) + 1).toISOString()

/**
 * Finds the execution after this one if there are many. Lists are newest first, so it is the last
 * one in a period, which grows until it contains one.
 */
const nextOptions = (workspaceId: WorkspaceId, place: Place) =>
  queryOptions({
    queryKey: ["w", workspaceId, "neighbours", place.id, "next"],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { executions } = clientOf(workspaceId)
      const due = Date.parse(place.scheduled_for)
      for (let length = 120_000, tries = 0; tries < 4; length *= timesSpan, tries++) {
        const isLast = tries === 3
        const query = {
          task_id: place.task_id,
          from: justAfter(place),
          limit: 100,
          ...(!isLast && { to: new Date(due + length).toISOString() })
        }
        const found = await executions.list(query, { signal }).toArray({ limit: 200 })
        const next = found.findLast(isOtherOf(place))
        if (next !== undefined) return next
      }
      return null
    }
  })

/**
 * Returns the execution of the same task or chain step right after this one, and the latest one
 * after it that succeeded or failed.
 */
export const useNewer = (workspaceId: WorkspaceId, place: Place) => {
  const { data, error, refetch } = useQuery(newerOptions(workspaceId, place))
  const { data: searchedNext } = useQuery({
    ...nextOptions(workspaceId, place),
    enabled: data?.isWhole === false
  })
  return {
    error,
    refetch,
    next: data?.isWhole === false ? (searchedNext ?? undefined) : data?.newer.at(-1),
    lastFinished: data?.newer.find(({ status }) => status === "failed" || status === "succeeded")
  }
}
