import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { includesRole, type Role } from "@scheduling/domain/members/Role"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { EndSignals } from "../../events/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { UsageRepo } from "../../plans/index.ts"
import { AccountEvents } from "../AccountEvents.ts"
import { InvitationsRepo } from "./InvitationsRepo.ts"
import { type MemberRow, MembersRepo } from "./MembersRepo.ts"

/**
 * Changes and ends memberships, with what depends on them. Call it in a transaction that holds the
 * lock of the workspace. The caller records the change.
 */
export const makeMembershipChanges = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const endSignals = yield* EndSignals
  const events = yield* AccountEvents
  const invitations = yield* InvitationsRepo
  const repo = yield* MembersRepo
  const usage = yield* UsageRepo

  return {
    /** A role that a person gives no longer depends on a claim. */
    changeRole: Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      member: MemberRow,
      role: Role,
      fromClaim = false
    ) {
      yield* repo.updateRole(workspaceId, member.id, role, fromClaim)
      // Deletes invitations to roles higher than the member's new role.
      if (!includesRole(role, member.role)) {
        yield* invitations.removeCreatedBy(workspaceId, member.id)
      }
    }),

    remove: Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      { email, id }: MemberRow,
      origin: RequestOrigin
    ) {
      yield* repo.remove(workspaceId, id)
      yield* usage.record("seats", [workspaceId], yield* DateTime.nowAsDate)
      yield* events.memberEmailRemoved(email, [workspaceId], origin)
      yield* sql.afterCommit(Effect.sync(() => endSignals.send([id])))
    })
  }
})
