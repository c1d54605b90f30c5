import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"

/**
 * Creates an `AuthorizedWorkspaceId`, which every query on a tenant's data takes. Only this
 * function creates one. Call it after the check that a user is a member of the workspace or that a
 * key belongs to it, or while the workspace is being created.
 */
export const authorize = (workspaceId: string): AuthorizedWorkspaceId =>
  workspaceId.toLowerCase() as AuthorizedWorkspaceId
