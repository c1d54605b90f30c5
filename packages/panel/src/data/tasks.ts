import type { CallMethod, ExecutionKind, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { clientOf } from "./client.ts"

/** What pages of other nouns show of a task. */
export interface TaskInShort {
  readonly name: string
  /** Undefined for a chain, which has several. */
  readonly call: Call | undefined
}

export interface Call {
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** A name for what has none. */
export const unnamed = (url: string): string => url.replace(/^https?:\/\//, "")

/** The names of the newest tasks of all kinds, which are most of those that a list shows. */
const namesOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: ["w", workspaceId, "names"],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const api = clientOf(workspaceId)
      const newest = { limit: 100 }
      const [cron, delayed, chains] = await Promise.all([
        api.cron.list(newest, { signal }),
        api.delayed.list(newest, { signal }),
        api.chains.list(newest, { signal })
      ])
      return new Map<string, string>([
        ...[...cron.data, ...chains.data].map(({ id, name }) => [id, name] as const),
        ...delayed.data.map(({ id, name, url }) => [id, name ?? unnamed(url)] as const)
      ])
    }
  })

const none: ReadonlyMap<string, string> = new Map()

/** The names of the newest tasks. */
export const useTaskNames = (workspaceId: WorkspaceId): ReadonlyMap<string, string> =>
  useQuery(namesOptions(workspaceId)).data ?? none

export const taskOptions = (workspaceId: WorkspaceId, kind: ExecutionKind, taskId: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "names", taskId],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<TaskInShort> => {
      const api = clientOf(workspaceId)
      if (kind === "chain") {
        const { name, steps } = await api.chains.get(taskId, { signal })
        return { name, call: steps.length === 1 ? steps[0] : undefined }
      }
      const call = await (kind === "cron"
        ? api.cron.get(taskId, { signal })
        : api.delayed.get(taskId, { signal }))
      return { name: call.name ?? unnamed(call.url), call }
    }
  })

/** The name of a task. Undefined until it is known; those that were deleted have none. */
export const useTaskName = (
  workspaceId: WorkspaceId,
  kind: ExecutionKind,
  taskId: string
): string | undefined => {
  const names = useQuery(namesOptions(workspaceId))
  const known = names.data?.get(taskId)
  const one = useQuery({
    ...taskOptions(workspaceId, kind, taskId),
    enabled: names.isSuccess && known === undefined
  })
  return known ?? one.data?.name ?? (one.isError ? "A deleted task" : undefined)
}
