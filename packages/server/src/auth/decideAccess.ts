import { InsufficientScope, JwtOnly, WorkspaceForbidden } from "@scheduling/domain/auth/AuthErrors"
import type { Caller } from "@scheduling/domain/auth/Caller"
import type { AccessRule } from "@scheduling/domain/shared/Access"
import { NotFound } from "@scheduling/domain/shared/Errors"

/** The workspace that the path names, and whether a user is a member of it. */
export interface PathWorkspace {
  readonly id: string
  readonly is_member: boolean
}

export type Refusal = JwtOnly | WorkspaceForbidden | NotFound | InsufficientScope

/**
 * Whether a known caller may use an endpoint: first the kind of credential, then the workspace, then
 * the scope, so that nobody learns anything about what they have no access to.
 */
export const decideAccess = (
  access: AccessRule,
  caller: Caller["Service"],
  workspace: PathWorkspace | undefined
): Refusal | undefined => {
  if (caller.kind === "jwt") {
    return workspace === undefined || workspace.is_member
      ? undefined
      : new NotFound({ resource: "workspace" })
  }
  if (access.kind === "jwt" || access.kind === "public") return new JwtOnly()
  if (workspace !== undefined && workspace.id.toLowerCase() !== caller.workspace_id)
    return new WorkspaceForbidden()
  if (access.kind === "scope" && !caller.scopes.includes(access.scope)) {
    return new InsufficientScope({ required_scope: access.scope })
  }
  return undefined
}
