import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"

/**
 * The only function that creates an `AuthorizedWorkspaceId`, which every query on a tenant's data
 * takes. Call it after the check that a user is a member of the workspace or that a key is one of
 * its keys, or while the workspace is being created.
 */
export const authorize = (workspaceId: string): AuthorizedWorkspaceId =>
  workspaceId.toLowerCase() as AuthorizedWorkspaceId
