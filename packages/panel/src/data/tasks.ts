import type { CallMethod, ExecutionKind, WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query"
import { askTogether, type Names } from "./askTogether.ts"
import { clientOf } from "./client.ts"
import { queries } from "./queries.ts"

/** A call as a task makes it. */
export interface Call {
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** A name for what has none. */
export const unnamed = (url: string): string => url.replace(/^https?:\/\//, "")

const nameOf = askTogether(async (workspaceId, task_ids) => {
  const { data } = await clientOf(workspaceId).activity.names({ task_ids })
  return new Map(data.map(({ name, task_id, url }) => [task_id, name ?? unnamed(url ?? "")]))
})

const nameOptions = (workspaceId: WorkspaceId, taskId: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "names", taskId],
    staleTime: 60_000,
    queryFn: async () => (await nameOf(workspaceId, taskId)) ?? "A deleted task"
  })

/** Asks for the names of all that a list shows, before the reader gets there. */
export const askForNames = (workspaceId: WorkspaceId, taskIds: ReadonlyArray<string>): void => {
  for (const id of new Set(taskIds)) void queries.prefetchQuery(nameOptions(workspaceId, id))
}

/** The names of a few tasks, as far as they are known. */
export const useTaskNames = (workspaceId: WorkspaceId, taskIds: ReadonlyArray<string>): Names =>
  useQueries({
    queries: taskIds.map((id) => nameOptions(workspaceId, id)),
    combine: (answers) =>
      new Map(
        answers.flatMap(({ data }, at) => (data === undefined ? [] : [[taskIds[at] ?? "", data]]))
      )
  })

/** The name of a task. Undefined until it is known. */
export const useTaskName = (workspaceId: WorkspaceId, taskId: string): string | undefined => {
  const { data, isError } = useQuery(nameOptions(workspaceId, taskId))
  return data ?? (isError ? `Task …${taskId.slice(-6)}` : undefined)
}

/** What a task calls. */
export const callOptions = (workspaceId: WorkspaceId, kind: ExecutionKind, taskId: string) =>
  queryOptions({
    queryKey: ["w", workspaceId, "names", taskId, "call"],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Call | null> => {
      const api = clientOf(workspaceId)
      if (kind === "chain") return null
      return await (kind === "cron"
        ? api.cron.get(taskId, { signal })
        : api.delayed.get(taskId, { signal }))
    }
  })
