import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Draft } from "./gather.ts"
import { insertDrafts } from "./insertDrafts.ts"
import type { WrittenRow } from "./OutboxRow.ts"
import { announceMissed, type TroubleRow, updateTroubles } from "./troubles.ts"

export interface ReceiverRow {
  readonly id: string
  readonly workspace_id: string
  readonly kind: NotificationKind
  readonly unfinished: number
  readonly open: string | null
}

export interface TellingRow {
  readonly channel_id: string
  readonly subject_id: string
  readonly incident_key: string
  /** How many subjects are in the same incident. */
  readonly companions: number
}

/** What the sorter reads and writes, all in one transaction that no other node has at the same time. */
export interface SortedTaskRow {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  readonly status: string
}

export class SorterRepo extends Context.Service<
  SorterRepo,
  {
    /** False: another node does it. Until the commit. */
    readonly claim: Effect.Effect<boolean>
    /** What was put into the outbox first. */
    readonly list: (
      limit: number
    ) => Effect.Effect<ReadonlyArray<Pick<WrittenRow, "ordinal" | "workspace_id">>>
    /** Locks them, but for those that somebody takes out of the outbox at this moment. */
    readonly claimRows: (
      ordinals: ReadonlyArray<bigint>
    ) => Effect.Effect<ReadonlyArray<WrittenRow>>
    /** Those of the workspaces that are there. They stay until the commit. */
    readonly findWorkspaces: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
    /** Those of the tasks and chains that are there. */
    readonly findTasks: (
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, SortedTaskRow>>
    readonly findTroubles: (
      subjectIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TroubleRow>>
    /** Locks them: nothing is sent to them meanwhile. */
    readonly findReceivers: (
      channelIds: ReadonlyArray<string>,
      workspaceIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<ReceiverRow>>
    readonly findTellings: (
      subjectIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TellingRow>>
    readonly updateTroubles: (
      changed: ReadonlyArray<TroubleRow>,
      ended: ReadonlyArray<string>
    ) => Effect.Effect<void>
    /**
     * Puts into the outbox the recoveries that nobody has announced, because the success was written
     * at the same time as the failure before it. Returns how many troubles it looked at.
     */
    readonly announceMissed: (now: Date, limit: number) => Effect.Effect<number>
    readonly insertTellings: (
      tellings: ReadonlyArray<Omit<TellingRow, "companions">>
    ) => Effect.Effect<void>
    readonly insertDrafts: (drafts: ReadonlyArray<Draft>, now: Date) => Effect.Effect<void>
    readonly remove: (ordinals: ReadonlyArray<bigint>) => Effect.Effect<void>
    readonly listToRemind: (now: Date, limit: number) => Effect.Effect<ReadonlyArray<TroubleRow>>
    /** Those of tasks and chains that are gone. */
    readonly removeOrphans: Effect.Effect<void>
  }
>()("@scheduling/server/notifications/sorting/SorterRepo") {
  static readonly layer: Layer.Layer<SorterRepo, never, SqlClient.SqlClient> = Layer.effect(
    SorterRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return SorterRepo.of({
        claim: Effect.map(
          sql<{ readonly mine: boolean }>`
            SELECT pg_try_advisory_xact_lock(${sorterLock}) AS mine`,
          ([row]) => row?.mine === true
        ).pipe(Effect.orDie),

        list: Effect.fn("SorterRepo.list")(function* (limit) {
          return yield* sql<Pick<WrittenRow, "ordinal" | "workspace_id">>`
            SELECT ordinal, workspace_id
            FROM outbox
            ORDER BY ordinal
            LIMIT ${limit}`
        }, Effect.orDie),

        claimRows: Effect.fn("SorterRepo.claimRows")(function* (ordinals) {
          return yield* sql<WrittenRow>`
            SELECT *
            FROM outbox
            WHERE ordinal = ANY (${ordinals.map(String)}::bigint[])
            ORDER BY ordinal
            FOR UPDATE SKIP LOCKED`
        }, Effect.orDie),

        findWorkspaces: Effect.fn("SorterRepo.findWorkspaces")(function* (ids) {
          const rows = yield* sql<{ readonly id: string }>`
            SELECT id
            FROM workspaces
            WHERE id = ANY (${ids}::uuid[])
            ORDER BY id
            FOR KEY SHARE`
          return new Set(rows.map(({ id }) => id))
        }, Effect.orDie),

        findTasks: Effect.fn("SorterRepo.findTasks")(function* (ids) {
          if (ids.length === 0) return new Map()
          const rows = yield* sql<SortedTaskRow>`
            SELECT id, workspace_id, coalesce(name, url, kind) AS name, status
            FROM tasks
            WHERE id = ANY (${ids}::uuid[])`
          return new Map(rows.map((row) => [row.id, row]))
        }, Effect.orDie),

        findTroubles: Effect.fn("SorterRepo.findTroubles")(function* (subjectIds) {
          return yield* sql<TroubleRow>`
            SELECT *
            FROM troubles
            WHERE subject_id = ANY (${subjectIds}::uuid[])
            ORDER BY subject_id
            FOR UPDATE`
        }, Effect.orDie),

        findReceivers: Effect.fn("SorterRepo.findReceivers")(function* (channelIds, workspaceIds) {
          const locked = yield* sql<Pick<ReceiverRow, "id" | "workspace_id" | "kind">>`
            SELECT id, workspace_id, kind
            FROM notification_channels
            WHERE enabled
              AND confirmed
              AND (
                id = ANY (${channelIds}::uuid[])
                OR workspace_id = ANY (${workspaceIds}::uuid[])
              )
            ORDER BY id
            FOR UPDATE`
          if (locked.length === 0) return []
          // In a statement of its own, so that it sees what was sent before the lock was given.
          const waiting = yield* sql<
            Pick<ReceiverRow, "unfinished" | "open"> & { readonly channel_id: string }
          >`
            SELECT
              channel_id,
              count(*)::int AS unfinished,
              (array_agg(CASE WHEN mergeable THEN id END ORDER BY ordinal DESC))[1] AS open
            FROM notification_deliveries
            WHERE channel_id = ANY (${locked.map(({ id }) => id)}::uuid[])
              AND status IN ('queued', 'sending')
            GROUP BY channel_id`
          const byChannel = new Map(waiting.map((row) => [row.channel_id, row]))
          return locked.map((row) => ({
            ...row,
            unfinished: byChannel.get(row.id)?.unfinished ?? 0,
            open: byChannel.get(row.id)?.open ?? null
          }))
        }, Effect.orDie),

        findTellings: Effect.fn("SorterRepo.findTellings")(function* (subjectIds) {
          if (subjectIds.length === 0) return []
          return yield* sql<TellingRow>`
            WITH asked AS MATERIALIZED (
              SELECT channel_id, subject_id, incident_key
              FROM tellings
              WHERE subject_id = ANY (${subjectIds}::uuid[])
            ), shared AS (
              SELECT tellings.channel_id, tellings.incident_key, count(*)::int AS companions
              FROM tellings
              WHERE (tellings.channel_id, tellings.incident_key) IN (
                SELECT channel_id, incident_key
                FROM asked
                WHERE incident_key <> subject_id
              )
              GROUP BY tellings.channel_id, tellings.incident_key
            )
            SELECT
              asked.channel_id, asked.subject_id, asked.incident_key,
              coalesce(shared.companions, 1) AS companions
            FROM asked
            LEFT JOIN shared
              ON shared.channel_id = asked.channel_id
              AND shared.incident_key = asked.incident_key`
        }, Effect.orDie),

        updateTroubles: Effect.fn("SorterRepo.updateTroubles")(function* (changed, ended) {
          yield* updateTroubles(sql, changed, ended)
        }, Effect.orDie),

        announceMissed: Effect.fn("SorterRepo.announceMissed")(function* (now, limit) {
          return yield* announceMissed(sql, now, limit)
        }, Effect.orDie),

        insertTellings: Effect.fn("SorterRepo.insertTellings")(function* (tellings) {
          if (tellings.length === 0) return
          yield* sql`
            INSERT INTO tellings (channel_id, subject_id, incident_key)
            SELECT channel_id, subject_id, incident_key
            FROM json_to_recordset(${JSON.stringify(tellings)}::json) AS told (
              channel_id uuid, subject_id uuid, incident_key uuid
            )
            ON CONFLICT DO NOTHING`
        }, Effect.orDie),

        insertDrafts: Effect.fn("SorterRepo.insertDrafts")(function* (drafts, now) {
          yield* insertDrafts(sql, drafts, now)
        }, Effect.orDie),

        remove: Effect.fn("SorterRepo.remove")(function* (ordinals) {
          yield* sql`
            DELETE FROM outbox
            WHERE ordinal = ANY (${ordinals.map(String)}::bigint[])`
        }, Effect.orDie),

        listToRemind: Effect.fn("SorterRepo.listToRemind")(function* (now, limit) {
          return yield* sql<TroubleRow>`
            SELECT *
            FROM troubles
            WHERE remind_at <= ${now}
            ORDER BY remind_at
            LIMIT ${limit}
            FOR UPDATE SKIP LOCKED`
        }, Effect.orDie),

        removeOrphans: sql`
          DELETE FROM troubles
          WHERE event IN ('task.failed', 'chain.failed')
            AND NOT EXISTS (
              SELECT
              FROM tasks
              WHERE tasks.id = troubles.subject_id
            )`.pipe(Effect.asVoid, Effect.orDie)
      })
    })
  )
}

/** Of the advisory locks of the database: an arbitrary number that nothing else here takes. */
const sorterLock = 7_410_925_001
