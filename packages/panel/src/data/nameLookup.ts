import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQueries, useQuery } from "@tanstack/react-query"
import { capitalize } from "../ui/values/format.ts"
import { queryClient } from "./queries.ts"

export type NamesById = ReadonlyMap<string, string>

type Fetch = (workspaceId: WorkspaceId, ids: string) => Promise<NamesById>

interface Batch {
  readonly ids: Set<string>
  readonly names: Promise<NamesById>
}

/** The maximum number of names that the API returns per request. */
const maxBatch = 100

/** Fetches all names that are requested at the same time in one request. */
const batched = (fetchNames: Fetch) => {
  const open = new Map<WorkspaceId, Batch>()

  const begin = (workspaceId: WorkspaceId): Batch => {
    const ids = new Set<string>()
    const gathered = new Promise((resolve) => setTimeout(resolve))
    const names = gathered.then(() => {
      if (open.get(workspaceId)?.ids === ids) open.delete(workspaceId)
      return fetchNames(workspaceId, [...ids].join(","))
    })
    const batch = { ids, names }
    open.set(workspaceId, batch)
    return batch
  }

  return async (workspaceId: WorkspaceId, id: string): Promise<string | undefined> => {
    const batch = open.get(workspaceId) ?? begin(workspaceId)
    batch.ids.add(id)
    if (batch.ids.size === maxBatch) open.delete(workspaceId)
    return (await batch.names).get(id)
  }
}

/** Looks up task or monitor names by id. `key` is the query key segment after the workspace. */
export const nameLookup = (noun: "task" | "monitor", key: string, fetchNames: Fetch) => {
  const nameOf = batched(fetchNames)
  const options = (workspaceId: WorkspaceId, id: string) =>
    queryOptions({
      queryKey: ["w", workspaceId, key, id],
      staleTime: 60_000,
      queryFn: async () => (await nameOf(workspaceId, id)) ?? `A deleted ${noun}`
    })
  return {
    /** Prefetches the names for one page of a list before its rows are rendered. */
    prefetch: (workspaceId: WorkspaceId, ids: ReadonlyArray<string>): void => {
      for (const id of new Set(ids)) void queryClient.prefetchQuery(options(workspaceId, id))
    },

    useNames: (workspaceId: WorkspaceId, ids: ReadonlyArray<string>): NamesById =>
      useQueries({
        queries: ids.map((id) => options(workspaceId, id)),
        combine: (answers) =>
          new Map(
            answers.flatMap(({ data }, index) =>
              data === undefined ? [] : [[ids[index] ?? "", data] as const]
            )
          )
      }),

    useName: (workspaceId: WorkspaceId, id: string): string | undefined => {
      const { data, isError } = useQuery(options(workspaceId, id))
      return data ?? (isError ? `${capitalize(noun)} …${id.slice(-6)}` : undefined)
    }
  }
}
