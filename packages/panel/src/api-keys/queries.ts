import type { ApiKeyId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queries } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "api-keys"] as const

export const keyListOptions = (workspaceId: WorkspaceId) =>
  listOptions([...all(workspaceId), "list"], (cursor, signal) =>
    clientOf(workspaceId).apiKeys.list({ cursor, limit: 100 }, { signal })
  )

export const keyOptions = (workspaceId: WorkspaceId, keyId: ApiKeyId) =>
  queryOptions({
    queryKey: [...all(workspaceId), keyId],
    queryFn: ({ signal }) => clientOf(workspaceId).apiKeys.get(keyId, { signal })
  })

export const keyUsageOptions = (workspaceId: WorkspaceId, keyId: ApiKeyId) =>
  queryOptions({
    queryKey: [...all(workspaceId), keyId, "usage"],
    queryFn: ({ signal }) => clientOf(workspaceId).apiKeys.usage(keyId, { signal })
  })

/** After a change: what is shown of keys is asked for again. */
export const keysChanged = (workspaceId: WorkspaceId): Promise<void> =>
  queries.invalidateQueries({ queryKey: all(workspaceId) })
