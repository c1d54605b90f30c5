import type { WorkerId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queries } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "workers"] as const

export const workerListOptions = (workspaceId: WorkspaceId) =>
  listOptions([...all(workspaceId), "list"], (cursor, signal) =>
    clientOf(workspaceId).workers.list({ cursor, limit: 100 }, { signal })
  )

export const workerOptions = (workspaceId: WorkspaceId, workerId: WorkerId) =>
  queryOptions({
    queryKey: [...all(workspaceId), workerId],
    queryFn: ({ signal }) => clientOf(workspaceId).workers.get(workerId, { signal })
  })

/** All that can be chosen from. */
export const allWorkersOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "all"],
    queryFn: ({ signal }) =>
      clientOf(workspaceId).workers.list({ limit: 100 }, { signal }).toArray({ limit: 1_000 })
  })

/** Agents come and go without a word to those who look. */
export const askForWorkersMs = 15_000

/** After a change: what is shown of workers is asked for again. */
export const workersChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
