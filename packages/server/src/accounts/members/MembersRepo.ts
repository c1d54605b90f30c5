import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Member } from "@scheduling/domain/members/Member"
import type { Role } from "@scheduling/domain/members/Role"
import { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type PageRequest, timestampOf } from "../../store/index.ts"

export interface MemberRow {
  readonly id: string
  readonly email: string
  readonly name: string | null
  readonly role: Role
  /** True if one of the identity provider's claims grants the role. */
  readonly from_claim: boolean
  readonly joined_at: Date
}

export const toMember = ({ from_claim: _, ...row }: MemberRow): Member => ({
  ...row,
  id: UserId.make(row.id),
  joined_at: timestampOf(row.joined_at)
})

/**
 * Reads and writes the human members, as opposed to service accounts. Members and roles change only while the workspace
 * is locked.
 */
export class MembersRepo extends Context.Service<
  MembersRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<MemberRow>>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      userId: string
    ) => Effect.Effect<Option.Option<MemberRow>>
    readonly findByEmail: (
      workspaceId: AuthorizedWorkspaceId,
      email: string
    ) => Effect.Effect<Option.Option<MemberRow>>
    readonly countOwners: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<number>
    /** Inserts a member. Returns false if the user was deleted. */
    readonly insert: (member: {
      readonly workspace_id: AuthorizedWorkspaceId
      readonly user_id: string
      readonly role: Role
      readonly from_claim?: boolean
      readonly created_at: Date
    }) => Effect.Effect<boolean>
    /**
     * Sets a member's role. Unless `fromClaim` is true, the role no longer depends on the identity
     * provider's claims.
     */
    readonly updateRole: (
      workspaceId: AuthorizedWorkspaceId,
      userId: string,
      role: Role,
      fromClaim?: boolean
    ) => Effect.Effect<void>
    /** Lists the workspaces in which a claim grants the user a role. */
    readonly listFromClaims: (userId: string) => Effect.Effect<
      ReadonlyArray<{
        readonly workspace_id: AuthorizedWorkspaceId
        readonly role: Role
      }>
    >
    readonly remove: (workspaceId: AuthorizedWorkspaceId, userId: string) => Effect.Effect<void>
    readonly removeAllBut: (
      workspaceId: AuthorizedWorkspaceId,
      userId: string
    ) => Effect.Effect<ReadonlyArray<Pick<MemberRow, "id" | "email" | "role">>>
  }
>()("@scheduling/server/accounts/members/MembersRepo") {
  static readonly layer: Layer.Layer<MembersRepo, never, SqlClient.SqlClient> = Layer.effect(
    MembersRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(`
        users.id, users.email, users.name, memberships.role, memberships.from_claim,
        memberships.created_at AS joined_at`)

      return MembersRepo.of({
        list: Effect.fn("MembersRepo.list")(function* (workspaceId, page) {
          return yield* sql<MemberRow>`
            SELECT ${columns}
            FROM memberships
            JOIN users ON users.id = memberships.user_id
            WHERE memberships.workspace_id = ${workspaceId}
              AND users.workspace_id IS NULL
              AND memberships.user_id < ${page.before}
            ORDER BY memberships.user_id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        find: Effect.fn("MembersRepo.find")(function* (workspaceId, userId) {
          const rows = yield* sql<MemberRow>`
            SELECT ${columns}
            FROM memberships
            JOIN users ON users.id = memberships.user_id
            WHERE memberships.workspace_id = ${workspaceId}
              AND users.workspace_id IS NULL
              AND memberships.user_id = ${userId}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findByEmail: Effect.fn("MembersRepo.findByEmail")(function* (workspaceId, email) {
          const rows = yield* sql<MemberRow>`
            SELECT ${columns}
            FROM users
            JOIN memberships ON memberships.user_id = users.id
            WHERE users.email = ${email}
              AND memberships.workspace_id = ${workspaceId}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        countOwners: Effect.fn("MembersRepo.countOwners")(function* (workspaceId) {
          const [row] = yield* sql<{ readonly owners: number }>`
            SELECT count(*)::int AS owners
            FROM memberships
            WHERE workspace_id = ${workspaceId}
              AND role = 'owner'`
          return row?.owners ?? 0
        }, Effect.orDie),

        insert: Effect.fn("MembersRepo.insert")(function* (member) {
          const rows = yield* sql`
            INSERT INTO memberships (user_id, workspace_id, role, from_claim, created_at)
            SELECT
              id, ${member.workspace_id}, ${member.role}, ${member.from_claim === true},
              ${member.created_at}
            FROM users
            WHERE id = ${member.user_id}
            FOR KEY SHARE
            RETURNING user_id`
          return rows.length > 0
        }, Effect.orDie),

        updateRole: Effect.fn("MembersRepo.updateRole")(function* (
          workspaceId,
          userId,
          role,
          fromClaim = false
        ) {
          yield* sql`
            UPDATE memberships
            SET role = ${role}, from_claim = ${fromClaim}
            WHERE workspace_id = ${workspaceId}
              AND user_id = ${userId}`
        }, Effect.orDie),

        listFromClaims: Effect.fn("MembersRepo.listFromClaims")(function* (userId) {
          return yield* sql<{
            readonly workspace_id: AuthorizedWorkspaceId
            readonly role: Role
          }>`
            SELECT workspace_id, role
            FROM memberships
            WHERE user_id = ${userId}
              AND from_claim`
        }, Effect.orDie),

        remove: Effect.fn("MembersRepo.remove")(function* (workspaceId, userId) {
          yield* sql`
            DELETE FROM memberships
            WHERE workspace_id = ${workspaceId}
              AND user_id = ${userId}`
        }, Effect.orDie),

        removeAllBut: Effect.fn("MembersRepo.removeAllBut")(function* (workspaceId, userId) {
          return yield* sql<Pick<MemberRow, "id" | "email" | "role">>`
            DELETE FROM memberships
            USING users
            WHERE memberships.workspace_id = ${workspaceId}
              AND users.workspace_id IS NULL
              AND user_id <> ${userId}
              AND users.id = user_id
            RETURNING user_id AS id, email, role`
        }, Effect.orDie)
      })
    })
  )
}
