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

/** After a change: what is shown of workers is asked for again. */
export const workersChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
