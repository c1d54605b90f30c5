import { Context } from "effect"
import type { WorkspaceId } from "../shared/Ids.ts"

declare const authorized: unique symbol

/**
 * The lower-case id of a workspace that the request has access to. A plain `WorkspaceId` can be any
 * id that a client has sent.
 */
export type AuthorizedWorkspaceId = WorkspaceId & { readonly [authorized]: true }

/**
 * The workspace in the path. It exists only after the check that the principal has access to it.
 */
export class CurrentWorkspace extends Context.Service<CurrentWorkspace, AuthorizedWorkspaceId>()(
  "@scheduling/domain/auth/CurrentWorkspace"
) {}
