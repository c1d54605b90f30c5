import type { DelayedTaskId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../../data/client.ts"
import { listOptions, queries } from "../../data/queries.ts"
import type { DelayedSearch } from "./search.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "delayed"] as const

export const delayedListOptions = (workspaceId: WorkspaceId, search: DelayedSearch) =>
  listOptions([...all(workspaceId), "list", search], (cursor, signal) =>
    clientOf(workspaceId).delayed.list({ ...search, cursor, limit: 100 }, { signal })
  )

export const delayedOptions = (workspaceId: WorkspaceId, taskId: DelayedTaskId) =>
  queryOptions({
    queryKey: [...all(workspaceId), taskId],
    queryFn: ({ signal }) => clientOf(workspaceId).delayed.get(taskId, { signal })
  })

export const delayedChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
