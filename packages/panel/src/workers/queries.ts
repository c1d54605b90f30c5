import type { Worker, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { recordQueries } from "../data/recordQueries.ts"

export const workerQueries = recordQueries<Worker>("workers", ({ workers }) => workers)

export const allWorkersOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...workerQueries.all(workspaceId), "all"],
    queryFn: ({ signal }) =>
      clientOf(workspaceId).workers.list({ limit: 100 }, { signal }).toArray({ limit: 1_000 })
  })

/** The polling interval. Live events do not report all changes to a worker. */
export const pollWorkersMs = 15_000
