import type { ApiKey, ApiKeyId, WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { recordQueries } from "../data/recordQueries.ts"

export const keyQueries = recordQueries<ApiKey>("api-keys", ({ apiKeys }) => apiKeys)

export const keyUsageOptions = (workspaceId: WorkspaceId, keyId: ApiKeyId) =>
  queryOptions({
    queryKey: [...keyQueries.all(workspaceId), keyId, "usage"],
    queryFn: ({ signal }) => clientOf(workspaceId).apiKeys.getUsage(keyId, { signal })
  })
