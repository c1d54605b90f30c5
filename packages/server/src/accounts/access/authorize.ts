import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"

/**
 * Creates an `AuthorizedWorkspaceId`, which every query on a tenant's data requires. No other
 * function creates one. Call it while creating the workspace, or after checking that the user is a
 * member of the workspace or that the key belongs to it.
 */
export const authorize = (workspaceId: string): AuthorizedWorkspaceId =>
  workspaceId.toLowerCase() as AuthorizedWorkspaceId
