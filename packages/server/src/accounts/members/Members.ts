import { Forbidden, type InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Member } from "@scheduling/domain/members/Member"
import type { Role } from "@scheduling/domain/members/Role"
import { Conflict, NotFound } from "@scheduling/domain/shared/Errors"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../audit/AuditLog.ts"
import type { Actor } from "../audit/currentActor.ts"
import type { UsageRepo } from "../../plans/index.ts"
import type { AccountEvents } from "../AccountEvents.ts"
import { orNotFound } from "../../core/index.ts"
import type { EndSignals } from "../../events/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { makeWorkspaceLock } from "../workspaces/makeWorkspaceLock.ts"
import { WorkspacesRepo } from "../workspaces/WorkspacesRepo.ts"
import type { InvitationsRepo } from "./InvitationsRepo.ts"
import { makeMembershipChanges } from "./makeMembershipChanges.ts"
import { type MemberRow, MembersRepo, toMember } from "./MembersRepo.ts"

export class Members extends Context.Service<
  Members,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: PageQuery
    ) => Effect.Effect<Page<Member>>
    readonly update: (
      workspaceId: AuthorizedWorkspaceId,
      userId: string,
      role: Role,
      actor: Actor
    ) => Effect.Effect<Member, InvalidToken | NotFound | Conflict | Forbidden>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      userId: string,
      actor: Actor
    ) => Effect.Effect<void, InvalidToken | NotFound | Conflict | Forbidden>
    readonly leave: (
      workspaceId: AuthorizedWorkspaceId,
      actor: Actor
    ) => Effect.Effect<void, NotFound | Conflict>
  }
>()("@scheduling/server/accounts/members/Members") {
  static readonly layer: Layer.Layer<
    Members,
    never,
    | AuditLog
    | AccountEvents
    | EndSignals
    | InvitationsRepo
    | MembersRepo
    | SqlClient.SqlClient
    | UsageRepo
    | WorkspacesRepo
  > = Layer.effect(
    Members,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const memberships = yield* makeMembershipChanges
      const repo = yield* MembersRepo
      const workspaces = yield* WorkspacesRepo
      const lockAs = makeWorkspaceLock(workspaces)

      /**
       * Fails if the member is the last owner. Call it before an owner leaves or receives another
       * role.
       */
      const requireOtherOwner = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        { role }: MemberRow
      ) {
        if (role !== "owner") return
        if ((yield* repo.countOwners(workspaceId)) < 2) {
          return yield* new Conflict({
            resource: "member",
            field: "role",
            message:
              "This is the only owner of the workspace. Make another member an owner first, or delete the workspace."
          })
        }
      })

      const record = (
        action: "member.role_changed" | "member.removed" | "member.left",
        workspaceId: AuthorizedWorkspaceId,
        member: MemberRow,
        { origin, user_id }: Actor,
        details: Readonly<Record<string, unknown>> = {}
      ) =>
        audit.recordInWorkspace(action, workspaceId, {
          actor_id: user_id,
          subject_id: member.id,
          origin,
          details: { role: member.role, ...details }
        })

      return Members.of({
        list: Effect.fn("Members.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(workspaceId, page), page, toMember)
        }),

        update: Effect.fn("Members.update")(function* (workspaceId, userId, role, actor) {
          const own = yield* lockAs(workspaceId, actor, "admin")
          const member = yield* requireMember(repo.find(workspaceId, userId))
          if (member.role === role) return toMember(member)
          if (own !== "owner" && (member.role === "owner" || role === "owner")) {
            return yield* new Forbidden({ required_role: "owner" })
          }
          yield* requireOtherOwner(workspaceId, member)
          yield* memberships.changeRole(workspaceId, member, role)
          yield* record("member.role_changed", workspaceId, member, actor, {
            role,
            was: member.role
          })
          return toMember({ ...member, role })
        }, transaction),

        remove: Effect.fn("Members.remove")(function* (workspaceId, userId, actor) {
          const own = yield* lockAs(workspaceId, actor, "admin")
          const member = yield* requireMember(repo.find(workspaceId, userId))
          if (own !== "owner" && member.role === "owner") {
            return yield* new Forbidden({ required_role: "owner" })
          }
          yield* requireOtherOwner(workspaceId, member)
          yield* memberships.remove(workspaceId, member, actor.origin)
          yield* record("member.removed", workspaceId, member, actor)
        }, transaction),

        leave: Effect.fn("Members.leave")(function* (workspaceId, actor) {
          if (!(yield* workspaces.lock(workspaceId)))
            return yield* new NotFound({ resource: "workspace" })
          const member = yield* Effect.catchTag(
            requireMember(repo.find(workspaceId, actor.user_id)),
            "NotFound",
            () => Effect.fail(new NotFound({ resource: "workspace" }))
          )
          yield* requireOtherOwner(workspaceId, member)
          yield* memberships.remove(workspaceId, member, actor.origin)
          yield* record("member.left", workspaceId, member, actor)
        }, transaction)
      })
    })
  )
}

const requireMember = orNotFound("member")
