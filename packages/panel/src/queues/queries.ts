import type { WorkspaceId } from "@scheduling/sdk"
import { clientOf } from "../data/client.ts"
import { listOptions, queries } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "queues"] as const

/** A workspace has at most so many queues as one page holds. */
export const queueListOptions = (workspaceId: WorkspaceId) =>
  listOptions([...all(workspaceId), "list"], (cursor, signal) =>
    clientOf(workspaceId).queues.list({ cursor, limit: 100 }, { signal })
  )

/** Runs come and go without a word to those who look. */
export const askForQueuesMs = 5_000

/** After a change: what is shown of queues is asked for again. */
export const queuesChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
