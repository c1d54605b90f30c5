import { Context } from "effect"
import type { WorkspaceId } from "../shared/Ids.ts"

declare const authorized: unique symbol

/**
 * The id, in lower case, of a workspace whose data this request may read and change. A plain
 * `WorkspaceId` only names a workspace, as anybody can.
 */
export type AuthorizedWorkspaceId = WorkspaceId & { readonly [authorized]: true }

/** The workspace in the path of this request, once its principal was let into it. */
export class CurrentWorkspace extends Context.Service<CurrentWorkspace, AuthorizedWorkspaceId>()(
  "@scheduling/domain/auth/CurrentWorkspace"
) {}
