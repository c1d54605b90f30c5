import {
  type AuthorizedWorkspaceId,
  CurrentWorkspace
} from "@scheduling/domain/auth/CurrentWorkspace"
import type { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Effect } from "effect"

/**
 * Creates a handler that receives the workspace of the path, after authentication has granted
 * access to it. It does not compile for a path without a workspace.
 */
export const inWorkspace =
  <Request extends { readonly params: { readonly workspace_id: WorkspaceId } }, A, E, R>(
    handler: (workspaceId: AuthorizedWorkspaceId, request: Request) => Effect.Effect<A, E, R>
  ) =>
  (request: Request): Effect.Effect<A, E, R | CurrentWorkspace> =>
    Effect.flatMap(CurrentWorkspace, (workspaceId) => handler(workspaceId, request))
