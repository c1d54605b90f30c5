import {
  Forbidden,
  InsufficientScope,
  JwtOnly,
  PersonOnly,
  WorkspaceForbidden
} from "@scheduling/domain/auth/AuthErrors"
import type { Principal } from "@scheduling/domain/auth/Principal"
import { includesRole, type Role } from "@scheduling/domain/members/Role"
import type { AccessRule } from "@scheduling/domain/shared/Access"
import { NotFound } from "@scheduling/domain/shared/Errors"

export interface PathWorkspace {
  readonly id: string
  readonly role: Role | null
}

export type AccessRefusal =
  | JwtOnly
  | PersonOnly
  | WorkspaceForbidden
  | NotFound
  | InsufficientScope
  | Forbidden

/**
 * Decides whether a principal has access to an endpoint. The credential's kind is checked before
 * the workspace, and the workspace before the scope, so that the error reveals nothing about
 * inaccessible records.
 */
export const decideAccess = (
  access: AccessRule,
  principal: Principal["Service"],
  workspace: PathWorkspace | undefined
): AccessRefusal | undefined => {
  if (principal.kind === "jwt") {
    if (principal.service_account !== null && access.kind === "jwt" && access.isForPeople) {
      return new PersonOnly()
    }
    if (workspace === undefined) return undefined
    if (workspace.role === null) return new NotFound({ resource: "workspace" })
    const required = "role" in access ? access.role : null
    return required === null || includesRole(workspace.role, required)
      ? undefined
      : new Forbidden({ required_role: required })
  }
  if (access.kind === "jwt" || access.kind === "public") return new JwtOnly()
  if (workspace !== undefined && workspace.id.toLowerCase() !== principal.workspace_id)
    return new WorkspaceForbidden()
  const accepted =
    access.kind === "scope" ? [access.scope] : access.kind === "any_scope" ? access.scopes : []
  const [first] = accepted
  if (first !== undefined && !accepted.some((scope) => principal.scopes.includes(scope))) {
    return new InsufficientScope({ required_scope: first })
  }
  return undefined
}
