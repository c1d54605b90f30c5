import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import type { AuditChainEnd, AuditChainPosition, AuditEventContent } from "./auditChainHashes.ts"

export interface SignedAuditChainEnd extends AuditChainEnd {
  readonly mac: string
}

export interface UnlinkedAuditEvent extends AuditEventContent {
  readonly mac: string | null
}

export interface AuditChainLink extends AuditChainPosition {
  readonly id: string
  readonly hash: string
  readonly mac: string | null
}

export interface LinkedAuditEvent extends AuditEventContent, AuditChainLink {
  readonly id: string
  readonly request_id: string | null
  readonly details: unknown
  readonly details_salt: string | null
  readonly owner_exists: boolean
}

export interface SignedAuditEvent extends AuditEventContent {
  readonly mac: string
  readonly ordinal: number | null
  readonly hash: string | null
}

export class AuditChainRepo extends Context.Service<
  AuditChainRepo,
  {
    readonly lockEnd: Effect.Effect<SignedAuditChainEnd>
    readonly findEnd: Effect.Effect<SignedAuditChainEnd | undefined>
    readonly updateEnd: (end: SignedAuditChainEnd) => Effect.Effect<void>
    /** Returns the last linked event's number, or 0 if no event is linked. */
    readonly findLastOrdinal: Effect.Effect<number>
    readonly listUnlinked: (
      afterId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<UnlinkedAuditEvent>>
    readonly updateLinks: (
      links: ReadonlyArray<AuditChainLink>,
      end: SignedAuditChainEnd
    ) => Effect.Effect<void>
    readonly listLinked: (
      afterOrdinal: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<LinkedAuditEvent>>
    readonly listSignedByOtherKeys: (
      keyId: string,
      afterId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<SignedAuditEvent>>
    /** Replaces MACs, except those that have changed since they were read. */
    readonly updateMacs: (
      macs: ReadonlyArray<{ readonly id: string; readonly from: string; readonly to: string }>
    ) => Effect.Effect<void>
    /**
     * Lists accounts and workspaces created since `since` whose creation was not recorded as an
     * event.
     */
    readonly listUnrecorded: (
      since: Date,
      limit: number
    ) => Effect.Effect<ReadonlyArray<{ readonly kind: string; readonly id: string }>>
  }
>()("@scheduling/server/accounts/audit/AuditChainRepo") {
  static readonly layer: Layer.Layer<AuditChainRepo, never, SqlClient.SqlClient> = Layer.effect(
    AuditChainRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const content = sql.literal(
        "id, action, workspace_id, user_id, actor_id, subject_id, ip, details_hash, created_at"
      )
      const selectEnd = sql`
        SELECT ordinal::float8 AS ordinal, hash, at, mac
        FROM audit_head`

      return AuditChainRepo.of({
        lockEnd: Effect.gen(function* () {
          const locked = sql<SignedAuditChainEnd>`${selectEnd} FOR UPDATE`
          const [found] = yield* locked
          if (found !== undefined) return found
          yield* sql`
            INSERT INTO audit_head (ordinal, hash, mac)
            VALUES (0, '', '')
            ON CONFLICT DO NOTHING`
          const [inserted] = yield* locked
          return inserted ?? (yield* Effect.die(new Error("audit_head has no row")))
        }).pipe(Effect.orDie, Effect.withSpan("AuditChainRepo.lockEnd")),

        findEnd: Effect.map(sql<SignedAuditChainEnd>`${selectEnd}`, ([end]) => end).pipe(
          Effect.orDie,
          Effect.withSpan("AuditChainRepo.findEnd")
        ),

        updateEnd: Effect.fn("AuditChainRepo.updateEnd")(function* ({ at, hash, mac, ordinal }) {
          yield* sql`
            UPDATE audit_head
            SET ordinal = ${ordinal}::float8, hash = ${hash}, at = ${at}, mac = ${mac}`
        }, Effect.orDie),

        findLastOrdinal: Effect.gen(function* () {
          const rows = yield* sql<{ readonly ordinal: number }>`
            SELECT ordinal::float8 AS ordinal
            FROM audit_events
            WHERE ordinal IS NOT NULL
            ORDER BY ordinal DESC
            LIMIT 1`
          return rows[0]?.ordinal ?? 0
        }).pipe(Effect.orDie, Effect.withSpan("AuditChainRepo.findLastOrdinal")),

        listUnlinked: Effect.fn("AuditChainRepo.listUnlinked")(function* (afterId, limit) {
          return yield* sql<UnlinkedAuditEvent>`
            SELECT ${content}, mac
            FROM audit_events
            WHERE ordinal IS NULL
              AND id > ${afterId}
            ORDER BY id
            LIMIT ${limit}`
        }, Effect.orDie),

        updateLinks: Effect.fn("AuditChainRepo.updateLinks")(function* (links, end) {
          const column = columnsOf(links)
          yield* sql`
            WITH linked AS (
              UPDATE audit_events
              SET ordinal = links.ordinal,
                  previous_hash = links.previous_hash,
                  previous_at = links.previous_at,
                  hash = links.hash,
                  mac = links.mac
              FROM unnest(
                ${column("uuid", ({ id }) => id)},
                ${column("float8", ({ ordinal }) => ordinal)},
                ${column("text", ({ previous_hash }) => previous_hash)},
                ${column("timestamptz", ({ previous_at }) => previous_at)},
                ${column("text", ({ hash }) => hash)},
                ${column("text", ({ mac }) => mac)}
              ) AS links (id, ordinal, previous_hash, previous_at, hash, mac)
              WHERE audit_events.id = links.id
            )
            UPDATE audit_head
            SET ordinal = ${end.ordinal}::float8, hash = ${end.hash}, at = ${end.at}, mac = ${end.mac}`
        }, Effect.orDie),

        listLinked: Effect.fn("AuditChainRepo.listLinked")(function* (afterOrdinal, limit) {
          return yield* sql<LinkedAuditEvent>`
            SELECT
              ${content}, request_id, details, details_salt,
              ordinal::float8 AS ordinal, previous_hash, previous_at, hash, mac,
              EXISTS (
                SELECT
                FROM workspaces
                WHERE workspaces.id = audit_events.workspace_id
              ) OR EXISTS (
                SELECT
                FROM users
                WHERE users.id = audit_events.user_id
              ) AS owner_exists
            FROM audit_events
            WHERE ordinal > ${afterOrdinal}::float8::bigint
            ORDER BY ordinal
            LIMIT ${limit}`
        }, Effect.orDie),

        listSignedByOtherKeys: Effect.fn("AuditChainRepo.listSignedByOtherKeys")(function* (
          keyId,
          afterId,
          limit
        ) {
          return yield* sql<SignedAuditEvent>`
            SELECT ${content}, mac, ordinal::float8 AS ordinal, hash
            FROM audit_events
            WHERE id > ${afterId}
              AND split_part(mac, '.', 1) <> ${keyId}
            ORDER BY id
            LIMIT ${limit}`
        }, Effect.orDie),

        updateMacs: Effect.fn("AuditChainRepo.updateMacs")(function* (macs) {
          const column = columnsOf(macs)
          yield* sql`
            UPDATE audit_events
            SET mac = macs.after
            FROM unnest(
              ${column("uuid", ({ id }) => id)},
              ${column("text", ({ from }) => from)},
              ${column("text", ({ to }) => to)}
            ) AS macs (id, before, after)
            WHERE audit_events.id = macs.id
              AND mac = macs.before`
        }, Effect.orDie),

        listUnrecorded: Effect.fn("AuditChainRepo.listUnrecorded")(function* (since, limit) {
          return yield* sql<{ readonly kind: string; readonly id: string }>`
            (
              SELECT 'account' AS kind, id
              FROM users
              WHERE created_at >= ${since}
                AND NOT EXISTS (
                  SELECT
                  FROM audit_events
                  WHERE user_id = users.id
                    AND action = 'account.registered'
                )
              LIMIT ${limit}
            )
            UNION ALL
            (
              SELECT 'workspace' AS kind, id
              FROM workspaces
              WHERE created_at >= ${since}
                AND NOT EXISTS (
                  SELECT
                  FROM audit_events
                  WHERE workspace_id = workspaces.id
                    AND action = 'workspace.created'
                )
              LIMIT ${limit}
            )`
        }, Effect.orDie)
      })
    })
  )
}
