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
 * Creates the operations that change and end memberships, and update everything that depends on
 * them. Call them in a transaction that has locked the workspace. The caller records the change.
 */
export const makeMembershipChanges = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const endSignals = yield* EndSignals
  const events = yield* AccountEvents
  const invitations = yield* InvitationsRepo
  const repo = yield* MembersRepo
  const usage = yield* UsageRepo

  return {
    /**
     * Changes a member's role. Unless `fromClaim` is true, the role no longer depends on the
     * identity provider's claims.
     */
    changeRole: Effect.fnUntraced(function* (
      workspaceId: AuthorizedWorkspaceId,
      member: MemberRow,
      role: Role,
      fromClaim = false
    ) {
      yield* repo.updateRole(workspaceId, member.id, role, fromClaim)
      // If the new role is lower, deletes the invitations that the member has sent, because they
      // can grant a higher role.
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
