import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  EscalationPolicy,
  EscalationStep
} from "@scheduling/domain/escalations/EscalationPolicy"
import type { UserId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  type DefinitionColumns,
  namedDefinitionsRepo,
  type NamedDefinitionsRepo
} from "../../accounts/index.ts"

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
  NamedDefinitionsRepo<EscalationPolicyRow> & {
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
    Effect.map(SqlClient.SqlClient, (sql) =>
      EscalationsRepo.of({
        ...namedDefinitionsRepo<EscalationPolicyRow>(sql, "escalation_policies", "key", {
          key: "text",
          name: "text",
          steps: "jsonb",
          repeat_count: "integer",
          repeat_after_seconds: "integer"
        }),

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
    )
  )
}
