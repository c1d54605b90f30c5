import type { Page, SchedulingClient, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "./client.ts"
import { listOptions, queryClient } from "./queries.ts"

interface Options {
  readonly signal: AbortSignal
}

interface Resource<Item, Search> {
  readonly list: (
    query: Search & { readonly cursor?: string | undefined; readonly limit: number },
    options: Options
  ) => Promise<Page<Item>>
  readonly get: (id: string, options: Options) => PromiseLike<Item>
}

/** Creates the queries for one kind of record. `noun` is the query key segment after the workspace. */
export const recordQueries = <Item, Search extends object = object>(
  noun: string,
  resourceOf: (client: SchedulingClient) => Resource<Item, Search>,
  { limit = 100 } = {}
) => {
  const all = (workspaceId: WorkspaceId) => ["w", workspaceId, noun] as const
  return {
    all,

    list: (workspaceId: WorkspaceId, search: Search = {} as Search) =>
      listOptions([...all(workspaceId), "list", search], (cursor, signal) =>
        resourceOf(clientOf(workspaceId)).list({ ...search, cursor, limit }, { signal })
      ),

    one: (workspaceId: WorkspaceId, id: string) =>
      queryOptions({
        queryKey: [...all(workspaceId), id],
        queryFn: async ({ signal }) => resourceOf(clientOf(workspaceId)).get(id, { signal })
      }),

    /** Refetches all queries for this kind of record after a change. */
    changed: (workspaceId: WorkspaceId): Promise<void> =>
      queryClient.invalidateQueries({ queryKey: all(workspaceId) })
  }
}
