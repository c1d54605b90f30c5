import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Invitation, InvitationPreview } from "@scheduling/domain/members/Invitation"
import type { Role } from "@scheduling/domain/members/Role"
import { InvitationId, UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type PageRequest, timestampOf } from "../../store/index.ts"

export interface InvitationRow {
  readonly id: string
  readonly workspace_id: string
  readonly email: string
  readonly role: Role
  readonly token_hash: string
  readonly invited_by: string
  readonly expires_at: Date
  readonly created_at: Date
}

export const toInvitation = (row: InvitationRow): Invitation => ({
  id: InvitationId.make(row.id),
  email: row.email,
  role: row.role,
  invited_by: UserId.make(row.invited_by),
  expires_at: timestampOf(row.expires_at),
  created_at: timestampOf(row.created_at)
})

export interface InvitationPreviewRow extends Pick<InvitationRow, "email" | "expires_at" | "role"> {
  readonly workspace_name: string
  readonly invited_by: string
}

export const toInvitationPreview = (row: InvitationPreviewRow): InvitationPreview => ({
  workspace_name: row.workspace_name,
  role: row.role,
  email: row.email,
  invited_by: row.invited_by,
  expires_at: timestampOf(row.expires_at)
})

export class InvitationsRepo extends Context.Service<
  InvitationsRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<InvitationRow>>
    /** Inserts an invitation and replaces an earlier one for the same email. */
    readonly insert: (
      invitation: InvitationRow & { readonly workspace_id: AuthorizedWorkspaceId }
    ) => Effect.Effect<void>
    readonly findByToken: (
      hashes: ReadonlyArray<string>,
      email: string,
      now: Date
    ) => Effect.Effect<Option.Option<InvitationRow>>
    /** Finds the part of an invitation that the holder of its token is allowed to see. */
    readonly findPreview: (
      hashes: ReadonlyArray<string>,
      now: Date
    ) => Effect.Effect<Option.Option<InvitationPreviewRow>>
    readonly remove: (
      workspaceId: AuthorizedWorkspaceId,
      id: string
    ) => Effect.Effect<Option.Option<InvitationRow>>
    readonly removeAll: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<ReadonlyArray<InvitationRow>>
    /** Deletes a deleted account's invitations in all workspaces. */
    readonly removeByEmail: (email: string) => Effect.Effect<void>
    readonly removeCreatedBy: (
      workspaceId: AuthorizedWorkspaceId,
      userId: string
    ) => Effect.Effect<void>
  }
>()("@scheduling/server/accounts/members/InvitationsRepo") {
  static readonly layer: Layer.Layer<InvitationsRepo, never, SqlClient.SqlClient> = Layer.effect(
    InvitationsRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return InvitationsRepo.of({
        list: Effect.fn("InvitationsRepo.list")(function* (workspaceId, now, page) {
          return yield* sql<InvitationRow>`
            SELECT *
            FROM invitations
            WHERE workspace_id = ${workspaceId}
              AND expires_at > ${now}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        insert: Effect.fn("InvitationsRepo.insert")(function* (invitation) {
          yield* sql`
            INSERT INTO invitations ${sql.insert({ ...invitation })}
            ON CONFLICT (workspace_id, email) DO UPDATE
            SET id = EXCLUDED.id,
                role = EXCLUDED.role,
                token_hash = EXCLUDED.token_hash,
                invited_by = EXCLUDED.invited_by,
                expires_at = EXCLUDED.expires_at,
                created_at = EXCLUDED.created_at`
        }, Effect.orDie),

        findByToken: Effect.fn("InvitationsRepo.findByToken")(function* (hashes, email, now) {
          const rows = yield* sql<InvitationRow>`
            SELECT *
            FROM invitations
            WHERE token_hash = ANY (${hashes}::text[])
              AND email = ${email}
              AND expires_at > ${now}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        findPreview: Effect.fn("InvitationsRepo.findPreview")(function* (hashes, now) {
          const rows = yield* sql<InvitationPreviewRow>`
            SELECT
              invitations.email,
              invitations.role,
              invitations.expires_at,
              workspaces.name AS workspace_name,
              coalesce(users.name, users.email) AS invited_by
            FROM invitations
            JOIN workspaces ON workspaces.id = invitations.workspace_id
            JOIN users ON users.id = invitations.invited_by
            WHERE invitations.token_hash = ANY (${hashes}::text[])
              AND invitations.expires_at > ${now}`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        remove: Effect.fn("InvitationsRepo.remove")(function* (workspaceId, id) {
          const rows = yield* sql<InvitationRow>`
            DELETE FROM invitations
            WHERE workspace_id = ${workspaceId}
              AND id = ${id}
            RETURNING *`
          return Option.fromNullishOr(rows[0])
        }, Effect.orDie),

        removeAll: Effect.fn("InvitationsRepo.removeAll")(function* (workspaceId) {
          return yield* sql<InvitationRow>`
            DELETE FROM invitations
            WHERE workspace_id = ${workspaceId}
            RETURNING *`
        }, Effect.orDie),

        removeByEmail: Effect.fn("InvitationsRepo.removeByEmail")(function* (email) {
          yield* sql`
            DELETE FROM invitations
            WHERE email = ${email}`
        }, Effect.orDie),

        removeCreatedBy: Effect.fn("InvitationsRepo.removeCreatedBy")(function* (
          workspaceId,
          userId
        ) {
          yield* sql`
            DELETE FROM invitations
            WHERE workspace_id = ${workspaceId}
              AND invited_by = ${userId}`
        }, Effect.orDie)
      })
    })
  )
}
