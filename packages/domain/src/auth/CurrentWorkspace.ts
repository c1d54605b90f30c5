import { Context } from "effect"
import type { WorkspaceId } from "../shared/Ids.ts"

declare const authorized: unique symbol

/**
 * The id, in lower case, of a workspace that this request has access to. A plain `WorkspaceId` can
 * be any id that a client has sent.
 */
export type AuthorizedWorkspaceId = WorkspaceId & { readonly [authorized]: true }

/** The workspace in the path, after the check that the principal has access to it. */
export class CurrentWorkspace extends Context.Service<CurrentWorkspace, AuthorizedWorkspaceId>()(
  "@scheduling/domain/auth/CurrentWorkspace"
) {}
