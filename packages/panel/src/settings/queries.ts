import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions } from "@tanstack/react-query"
import { clientOf } from "../data/client.ts"
import { listOptions, queries, workspacesOptions } from "../data/queries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "settings"] as const

export const workspaceOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: all(workspaceId),
    queryFn: ({ signal }) => clientOf(workspaceId).workspaces.get(workspaceId, { signal })
  })

export const signingSecretsOptions = (workspaceId: WorkspaceId) =>
  queryOptions({
    queryKey: [...all(workspaceId), "secrets"],
    // Asked for only when somebody wants to see it, and not kept.
    enabled: false,
    gcTime: 0,
    queryFn: async ({ signal }) =>
      (await clientOf(workspaceId).workspaces.signingSecrets({ limit: 10 }, { signal })).data
  })

export const auditOptions = (workspaceId: WorkspaceId) =>
  listOptions(["w", workspaceId, "audit"], (cursor, signal) =>
    clientOf(workspaceId).workspaces.audit({ cursor, limit: 100 }, { signal })
  )

/** After a change of the workspace itself. */
export const workspaceChanged = (workspaceId: WorkspaceId): Promise<unknown> =>
  Promise.all([
    queries.invalidateQueries({ queryKey: all(workspaceId) }),
    queries.invalidateQueries(workspacesOptions)
  ])
