import type { Page, SchedulingClient, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queries } from "../data/queries.ts"
import type { TaskSearch } from "./search.ts"

interface Options {
  readonly signal: AbortSignal
}

interface Reads<Task, Status> {
  readonly list: (
    query: TaskSearch<Status> & { readonly cursor?: string | undefined; readonly limit: number },
    options: Options
  ) => Promise<Page<Task>>
  readonly get: (id: string, options: Options) => Promise<Task>
}

/** A kind of task, as the API and the addresses of the panel call it. */
export type Noun = "chains" | "cron" | "delayed"

/** What is asked about the tasks of a kind. */
export const taskQueries = <Task, Status extends string>(
  noun: Noun,
  readsOf: (client: SchedulingClient) => Reads<Task, Status>
) => {
  const all = (workspaceId: WorkspaceId) => ["w", workspaceId, noun] as const
  return {
    all,

    list: (workspaceId: WorkspaceId, search: TaskSearch<Status>) =>
      listOptions([...all(workspaceId), "list", search], (cursor, signal) =>
        readsOf(clientOf(workspaceId)).list({ ...search, cursor, limit: 100 }, { signal })
      ),

    one: (workspaceId: WorkspaceId, taskId: string) =>
      queryOptions({
        queryKey: [...all(workspaceId), taskId],
        queryFn: ({ signal }) => readsOf(clientOf(workspaceId)).get(taskId, { signal })
      }),

    /** After a change: what is shown of the kind is asked for again. */
    changed: (workspaceId: WorkspaceId): Promise<void> =>
      queries.invalidateQueries({ queryKey: all(workspaceId) })
  }
}
