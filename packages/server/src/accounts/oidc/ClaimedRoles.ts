import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { includesRole, type Role } from "@scheduling/domain/members/Role"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig, type RoleOfClaim } from "../../core/index.ts"
import type { EndSignals } from "../../events/index.ts"
import type { RequestOrigin } from "../../http/index.ts"
import { Limits, UsageRepo } from "../../plans/index.ts"
import { transactionOf } from "../../store/index.ts"
import { authorize } from "../access/authorize.ts"
import type { AccountEvents } from "../AccountEvents.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import type { InvitationsRepo } from "../members/InvitationsRepo.ts"
import { makeMembershipChanges } from "../members/makeMembershipChanges.ts"
import { type MemberRow, MembersRepo } from "../members/MembersRepo.ts"
import type { UserRow } from "../users/UsersRepo.ts"
import { WorkspacesRepo } from "../workspaces/WorkspacesRepo.ts"

/**
 * Gives people the roles that the identity provider's claims grant, and takes these roles away when
 * a claim is gone. Roles assigned by a person are not changed.
 */
export class ClaimedRoles extends Context.Service<
  ClaimedRoles,
  {
    /** Returns true if any of these role claim values grants a role. */
    readonly grants: (values: ReadonlyArray<string>) => boolean
    readonly apply: (
      user: Pick<UserRow, "id" | "email">,
      values: ReadonlyArray<string>,
      origin: RequestOrigin
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/oidc/ClaimedRoles") {
  static readonly layer: Layer.Layer<
    ClaimedRoles,
    never,
    | AccountEvents
    | AppConfig
    | AuditLog
    | EndSignals
    | InvitationsRepo
    | Limits
    | MembersRepo
    | SqlClient.SqlClient
    | UsageRepo
    | WorkspacesRepo
  > = Layer.effect(
    ClaimedRoles,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const { oidc } = yield* AppConfig
      const audit = yield* AuditLog
      const limits = yield* Limits
      const members = yield* MembersRepo
      const memberships = yield* makeMembershipChanges
      const usage = yield* UsageRepo
      const workspaces = yield* WorkspacesRepo

      const record = (
        action: "member.added" | "member.role_changed" | "member.removed",
        workspaceId: AuthorizedWorkspaceId,
        userId: string,
        origin: RequestOrigin,
        details: Readonly<Record<string, string>>
      ) =>
        audit.recordInWorkspace(action, workspaceId, {
          actor_id: null,
          subject_id: userId,
          origin,
          details: { ...details, granted_by: "identity provider" }
        })

      const add = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        userId: string,
        role: Role,
        origin: RequestOrigin
      ) {
        yield* limits.allowOneMore(workspaceId, "members")
        const now = yield* DateTime.nowAsDate
        const membership = { workspace_id: workspaceId, user_id: userId, role, from_claim: true }
        if (!(yield* members.insert({ ...membership, created_at: now }))) return
        yield* usage.record("seats", [workspaceId], now)
        yield* record("member.added", workspaceId, userId, origin, { role })
      })

      const change = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        member: MemberRow,
        role: Role,
        origin: RequestOrigin
      ) {
        if (member.role === role) return
        yield* memberships.changeRole(workspaceId, member, role, true)
        const details = { role, was: member.role }
        yield* record("member.role_changed", workspaceId, member.id, origin, details)
      })

      const remove = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        member: MemberRow,
        origin: RequestOrigin
      ) {
        yield* memberships.remove(workspaceId, member, origin)
        yield* record("member.removed", workspaceId, member.id, origin, { role: member.role })
      })

      const applyInWorkspace = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        userId: string,
        role: Role | undefined,
        origin: RequestOrigin
      ) {
        if (!(yield* workspaces.lock(workspaceId))) {
          yield* Effect.logWarning("OIDC_ROLES names a workspace that does not exist").pipe(
            Effect.annotateLogs({ workspace_id: workspaceId })
          )
          return
        }
        const member = Option.getOrUndefined(yield* members.find(workspaceId, userId))
        if (member === undefined) {
          if (role !== undefined) yield* add(workspaceId, userId, role, origin)
        } else if (member.from_claim) {
          if (role === undefined) yield* remove(workspaceId, member, origin)
          else yield* change(workspaceId, member, role, origin)
        }
      }, transaction)

      return ClaimedRoles.of({
        grants: (values) => oidc !== undefined && grantedRoles(oidc.roles, values).size > 0,

        apply: Effect.fn("ClaimedRoles.apply")(function* ({ id }, values, origin) {
          if (oidc?.roleClaim === undefined) return
          const granted = grantedRoles(oidc.roles, values)
          const now = new Map(
            (yield* members.listFromClaims(id)).map(({ role, workspace_id }) => [
              workspace_id as string,
              role
            ])
          )
          const changed = new Set([...granted.keys(), ...now.keys()])
          for (const workspaceId of changed) {
            const role = granted.get(workspaceId)
            if (role === now.get(workspaceId)) continue
            // People must be able to sign in even if a workspace's plan allows no more members.
            yield* Effect.catchTags(applyInWorkspace(authorize(workspaceId), id, role, origin), {
              QuotaExceeded: ({ message }) => Effect.logWarning(message),
              NotFound: () => Effect.void
            })
          }
        }, Effect.orDie)
      })
    })
  )
}

/** Returns the highest role per workspace that the claim values grant. */
export const grantedRoles = (
  rules: ReadonlyArray<RoleOfClaim>,
  values: ReadonlyArray<string>
): ReadonlyMap<string, Role> => {
  const granted = new Map<string, Role>()
  for (const { role, value, workspaceId } of rules) {
    const known = granted.get(workspaceId)
    if (!values.includes(value) || (known !== undefined && includesRole(known, role))) continue
    granted.set(workspaceId, role)
  }
  return granted
}
