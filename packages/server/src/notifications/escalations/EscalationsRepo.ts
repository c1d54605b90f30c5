import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  EscalationPolicy,
  EscalationStep
} from "@scheduling/domain/escalations/EscalationPolicy"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { DefinitionColumns } from "../../accounts/index.ts"
import { orWorkspaceNotFound, type PageRequest } from "../../store/index.ts"

/** A stored step. It contains ids instead of keys. */
export type StoredEscalationStep = Omit<EscalationStep, "channel_keys">

export interface EscalationPolicyRow
  extends
    DefinitionColumns,
    Pick<EscalationPolicy, "key" | "name" | "repeat_after_seconds" | "repeat_count"> {
  readonly steps: ReadonlyArray<StoredEscalationStep>
}

/** A channel that a step of an escalation policy names. */
export interface PolicyChannel {
  readonly id: string
  readonly key: string | null
}

/** Reads and writes escalation policies, and the channels and members that they name. */
export class EscalationsRepo extends Context.Service<
  EscalationsRepo,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      page: PageRequest
    ) => Effect.Effect<ReadonlyArray<EscalationPolicyRow>>
    readonly find: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<EscalationPolicyRow>>
    readonly findForUpdate: (
      workspaceId: AuthorizedWorkspaceId,
      key: string
    ) => Effect.Effect<Option.Option<EscalationPolicyRow>>
    readonly count: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<number>
    /**
     * Inserts the policy. Returns false if a concurrent request has just inserted one with the same
     * key.
     */
    readonly insert: (policy: EscalationPolicyRow) => Effect.Effect<boolean, NotFound>
    readonly update: (policy: EscalationPolicyRow) => Effect.Effect<void>
    readonly remove: (workspaceId: AuthorizedWorkspaceId, key: string) => Effect.Effect<void>
    /**
     * Returns the channels with these ids or keys. They cannot be deleted until the commit.
     */
    readonly findChannels: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>,
      keys: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<PolicyChannel>>
    /** Returns those of the given ids that belong to members who are people. */
    readonly findMembers: (
      workspaceId: AuthorizedWorkspaceId,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlySet<UserId>>
    /** Returns the names of the policies that notify this channel. */
    readonly findNamesOfChannel: (
      workspaceId: AuthorizedWorkspaceId,
      channelId: string
    ) => Effect.Effect<ReadonlyArray<string>>
  }
>()("@scheduling/server/notifications/escalations/EscalationsRepo") {
  static readonly layer: Layer.Layer<EscalationsRepo, never, SqlClient.SqlClient> = Layer.effect(
    EscalationsRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const find = Effect.fn("EscalationsRepo.find")(function* (
        workspaceId: AuthorizedWorkspaceId,
        key: string,
        lock: Statement.Fragment
      ) {
        const rows = yield* sql<EscalationPolicyRow>`
          SELECT *
          FROM escalation_policies
          WHERE workspace_id = ${workspaceId}
            AND key = ${key}
          ${lock}`
        return Option.fromNullishOr(rows[0])
      }, Effect.orDie)

      return EscalationsRepo.of({
        list: Effect.fn("EscalationsRepo.list")(function* (workspaceId, page) {
          return yield* sql<EscalationPolicyRow>`
            SELECT *
            FROM escalation_policies
            WHERE workspace_id = ${workspaceId}
              AND id < ${page.before}
            ORDER BY id DESC
            LIMIT ${page.limit + 1}`
        }, Effect.orDie),

        find: (workspaceId, key) => find(workspaceId, key, sql``),

        findForUpdate: (workspaceId, key) => find(workspaceId, key, sql`FOR UPDATE`),

        count: Effect.fn("EscalationsRepo.count")(function* (workspaceId) {
          const rows = yield* sql<{ readonly count: number }>`
            SELECT count(*)::int4 AS count
            FROM escalation_policies
            WHERE workspace_id = ${workspaceId}`
          return rows[0]?.count ?? 0
        }, Effect.orDie),

        insert: Effect.fn("EscalationsRepo.insert")(function* (row) {
          const rows = yield* sql`
            INSERT INTO escalation_policies (
              id, workspace_id, key, version, name, steps, repeat_count, repeat_after_seconds,
              created_by, created_at, updated_at
            )
            VALUES (
              ${row.id}, ${row.workspace_id}, ${row.key}, ${row.version}, ${row.name},
              ${JSON.stringify(row.steps)}::jsonb, ${row.repeat_count},
              ${row.repeat_after_seconds}, ${JSON.stringify(row.created_by)}::jsonb,
              ${row.created_at}, ${row.updated_at}
            )
            ON CONFLICT (workspace_id, key) DO NOTHING
            RETURNING id`
          return rows.length > 0
        }, orWorkspaceNotFound),

        update: Effect.fn("EscalationsRepo.update")(function* (row) {
          yield* sql`
            UPDATE escalation_policies
            SET
              version = ${row.version},
              name = ${row.name},
              steps = ${JSON.stringify(row.steps)}::jsonb,
              repeat_count = ${row.repeat_count},
              repeat_after_seconds = ${row.repeat_after_seconds},
              updated_by = ${JSON.stringify(row.updated_by)}::jsonb,
              updated_at = ${row.updated_at}
            WHERE workspace_id = ${row.workspace_id}
              AND id = ${row.id}`
        }, Effect.orDie),

        remove: Effect.fn("EscalationsRepo.remove")(function* (workspaceId, key) {
          yield* sql`
            DELETE FROM escalation_policies
            WHERE workspace_id = ${workspaceId}
              AND key = ${key}`
        }, Effect.orDie),

        findChannels: Effect.fn("EscalationsRepo.findChannels")(function* (workspaceId, ids, keys) {
          if (ids.length + keys.length === 0) return []
          return yield* sql<PolicyChannel>`
            SELECT id, key
            FROM notification_channels
            WHERE workspace_id = ${workspaceId}
              AND (id = ANY (${ids}::uuid[]) OR key = ANY (${keys}::text[]))
            ORDER BY id
            FOR KEY SHARE`
        }, Effect.orDie),

        findMembers: Effect.fn("EscalationsRepo.findMembers")(function* (workspaceId, ids) {
          if (ids.length === 0) return new Set<UserId>()
          const rows = yield* sql<{ readonly id: UserId }>`
            SELECT users.id
            FROM memberships
            JOIN users ON users.id = memberships.user_id
            WHERE memberships.workspace_id = ${workspaceId}
              AND memberships.user_id = ANY (${ids}::uuid[])
              AND users.email IS NOT NULL`
          return new Set(rows.map(({ id }) => id))
        }, Effect.orDie),

        findNamesOfChannel: Effect.fn("EscalationsRepo.findNamesOfChannel")(function* (
          workspaceId,
          channelId
        ) {
          const rows = yield* sql<{ readonly name: string }>`
            SELECT name
            FROM escalation_policies
            WHERE workspace_id = ${workspaceId}
              AND steps @> ${JSON.stringify([{ channel_ids: [channelId] }])}::jsonb
            ORDER BY name`
          return rows.map(({ name }) => name)
        }, Effect.orDie)
      })
    })
  )
}
