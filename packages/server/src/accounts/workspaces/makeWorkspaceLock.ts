import { Forbidden, InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { includesRole, type Role } from "@scheduling/domain/members/Role"
import { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import type { Actor } from "../audit/currentActor.ts"
import type { WorkspacesRepo } from "./WorkspacesRepo.ts"

/**
 * Creates the function that locks a workspace until the transaction ends. It also checks the
 * actor's session and role again, because both may have changed since the request was
 * authenticated. Roles change only while the workspace is locked, so the returned role is valid
 * until the commit.
 */
export const makeWorkspaceLock = (workspaces: WorkspacesRepo["Service"]) =>
  Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    actor: Actor,
    needed: Role
  ): Effect.fn.Return<Role, InvalidToken | NotFound | Forbidden> {
    if (!(yield* workspaces.lock(workspaceId)))
      return yield* new NotFound({ resource: "workspace" })
    const { has_session, role } = yield* workspaces.findSessionRole(workspaceId, actor)
    if (!has_session) return yield* new InvalidToken()
    if (role === null) return yield* new NotFound({ resource: "workspace" })
    if (!includesRole(role, needed)) return yield* new Forbidden({ required_role: needed })
    return role
  })
