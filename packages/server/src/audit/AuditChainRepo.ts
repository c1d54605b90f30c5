import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../sql/columns.ts"
import type { Linked, Said } from "./chain.ts"

export interface ChainHead {
  readonly workspace_id: string
  readonly ordinal: number
  readonly hash: string
  readonly at: Date | null
}

export interface UnlinkedRow extends Said {
  readonly details: unknown
}

export interface LinkRow extends Linked {
  readonly id: string
  readonly details_mac: string
  readonly hash: string
}

export interface LinkedRow extends UnlinkedRow, LinkRow {
  readonly id: string
}

/** The chains of all workspaces: they are no tenant's to change. */
export class AuditChainRepo extends Context.Service<
  AuditChainRepo,
  {
    readonly listWaiting: (limit: number) => Effect.Effect<ReadonlyArray<string>>
    /** Locks the head until the transaction ends. None while another node has it. */
    readonly claimHead: (workspaceId: string) => Effect.Effect<Option.Option<ChainHead>>
    readonly listUnlinked: (
      workspaceId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<UnlinkedRow>>
    readonly updateLinks: (links: ReadonlyArray<LinkRow>, head: ChainHead) => Effect.Effect<void>
    readonly listHeads: (after: string, limit: number) => Effect.Effect<ReadonlyArray<ChainHead>>
    readonly listLinked: (
      workspaceId: string,
      after: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<LinkedRow>>
    /** Whether the words of its events may have been taken out. */
    readonly isGone: (workspaceId: string) => Effect.Effect<boolean>
  }
>()("@scheduling/server/audit/AuditChainRepo") {
  static readonly layer: Layer.Layer<AuditChainRepo, never, SqlClient.SqlClient> = Layer.effect(
    AuditChainRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return AuditChainRepo.of({
        listWaiting: Effect.fn("AuditChainRepo.listWaiting")(function* (limit) {
          const rows = yield* sql<{ readonly id: string }>`
            SELECT DISTINCT workspace_id AS id
            FROM audit_events
            WHERE ordinal IS NULL
              AND workspace_id IS NOT NULL
            LIMIT ${limit}`
          return rows.map(({ id }) => id)
        }, Effect.orDie),

        claimHead: Effect.fn("AuditChainRepo.claimHead")(function* (workspaceId) {
          const head = sql<ChainHead>`
            SELECT workspace_id, ordinal::int, hash, at
            FROM audit_chains
            WHERE workspace_id = ${workspaceId}
            FOR UPDATE SKIP LOCKED`
          const [found] = yield* head
          if (found !== undefined) return Option.some(found)
          // A new workspace has none yet, and of any other, another node holds it.
          yield* sql`
            INSERT INTO audit_chains (workspace_id, ordinal, hash)
            VALUES (${workspaceId}, 0, '')
            ON CONFLICT DO NOTHING`
          return Option.fromNullishOr((yield* head)[0])
        }, Effect.orDie),

        listUnlinked: Effect.fn("AuditChainRepo.listUnlinked")(function* (workspaceId, limit) {
          return yield* sql<UnlinkedRow>`
            SELECT id, action, workspace_id, actor_id, target_id, ip, details, created_at
            FROM audit_events
            WHERE workspace_id = ${workspaceId}
              AND ordinal IS NULL
            ORDER BY id
            LIMIT ${limit}`
        }, Effect.orDie),

        updateLinks: Effect.fn("AuditChainRepo.updateLinks")(function* (links, head) {
          const column = columnsOf(links)
          yield* sql`
            WITH linked AS (
              UPDATE audit_events
              SET ordinal = links.ordinal,
                  previous_hash = links.previous_hash,
                  previous_at = links.previous_at,
                  details_mac = links.details_mac,
                  hash = links.hash
              FROM unnest(
                ${column("uuid", ({ id }) => id)},
                ${column("int4", ({ ordinal }) => ordinal)},
                ${column("text", ({ previous_hash }) => previous_hash)},
                ${column("timestamptz", ({ previous_at }) => previous_at)},
                ${column("text", ({ details_mac }) => details_mac)},
                ${column("text", ({ hash }) => hash)}
              ) AS links (id, ordinal, previous_hash, previous_at, details_mac, hash)
              WHERE audit_events.id = links.id
                AND audit_events.workspace_id = ${head.workspace_id}
            )
            UPDATE audit_chains
            SET ordinal = ${head.ordinal}, hash = ${head.hash}, at = ${head.at}
            WHERE workspace_id = ${head.workspace_id}`
        }, Effect.orDie),

        listHeads: Effect.fn("AuditChainRepo.listHeads")(function* (after, limit) {
          return yield* sql<ChainHead>`
            SELECT workspace_id, ordinal::int, hash, at
            FROM audit_chains
            WHERE workspace_id > ${after}
            ORDER BY workspace_id
            LIMIT ${limit}`
        }, Effect.orDie),

        listLinked: Effect.fn("AuditChainRepo.listLinked")(function* (workspaceId, after, limit) {
          return yield* sql<LinkedRow>`
            SELECT
              id, action, workspace_id, actor_id, target_id, ip, details, created_at,
              ordinal::int, previous_hash, previous_at, details_mac, hash
            FROM audit_events
            WHERE workspace_id = ${workspaceId}
              AND ordinal > ${after}
            ORDER BY ordinal
            LIMIT ${limit}`
        }, Effect.orDie),

        isGone: Effect.fn("AuditChainRepo.isGone")(function* (workspaceId) {
          const rows = yield* sql`
            SELECT id
            FROM workspaces
            WHERE id = ${workspaceId}`
          return rows.length === 0
        }, Effect.orDie)
      })
    })
  )
}
