import type { ServiceAccount, WorkspaceId } from "@scheduling/sdk"
import { clientOf } from "../data/client.ts"
import { listOptions, queryClient } from "../data/queries.ts"
import { recordQueries } from "../data/recordQueries.ts"

const all = (workspaceId: WorkspaceId) => ["w", workspaceId, "members"] as const

export const memberListOptions = (workspaceId: WorkspaceId) =>
  listOptions([...all(workspaceId), "list"], (cursor, signal) =>
    clientOf(workspaceId).members.list({ cursor, limit: 100 }, { signal })
  )

export const invitationListOptions = (workspaceId: WorkspaceId) =>
  listOptions([...all(workspaceId), "invitations"], (cursor, signal) =>
    clientOf(workspaceId).invitations.list({ cursor, limit: 100 }, { signal })
  )

export const serviceAccountQueries = recordQueries<ServiceAccount>(
  "service-accounts",
  ({ serviceAccounts }) => serviceAccounts
)

/** Refetches all member queries after a change. */
export const refetchMembers = (workspaceId: WorkspaceId): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: all(workspaceId) })
