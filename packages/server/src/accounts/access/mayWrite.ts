import type { Scope } from "@scheduling/domain/api-keys/Scope"
import type { Principal } from "@scheduling/domain/auth/Principal"
import { includesRole } from "@scheduling/domain/members/Role"

/**
 * Returns whether the caller of a read endpoint also has permission to write. Other callers do not
 * see URLs that work without a further credential.
 */
export const mayWrite = (
  principal: Principal["Service"],
  scope: Extract<Scope, `${string}:write`>
): boolean =>
  principal.kind === "jwt"
    ? principal.role !== null && includesRole(principal.role, "editor")
    : principal.scopes.includes(scope)
