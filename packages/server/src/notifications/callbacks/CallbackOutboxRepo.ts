import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ToldEvent } from "../Message.ts"
import { patienceMs } from "../sending/waits.ts"
import type { RunData } from "../sorting/OutboxRow.ts"

export interface CallbackRow {
  readonly ordinal: bigint
  readonly workspace_id: AuthorizedWorkspaceId
  readonly task_id: string
  readonly url: string
  readonly event: "task.failed" | "task.succeeded" | "chain.failed" | "chain.succeeded"
  readonly at: Date
  readonly data: RunData & { readonly name: string }
}

export interface NewCallback {
  readonly id: string
  readonly workspace_id: string
  readonly target: string
  /** One of them is 1: it failed, or it succeeded. */
  readonly begun: number
  readonly ended: number
  readonly shown: ReadonlyArray<ToldEvent>
  readonly subjects: ReadonlyArray<string>
}

/** How many call-backs of a workspace were dropped. */
export interface Dropped {
  readonly id: string
  readonly workspace_id: string
  readonly count: number
  /** The first of them. */
  readonly shown: ReadonlyArray<ToldEvent>
  readonly error: string
}

/** Between the settling of runs and the deliveries, in one transaction that one node has at a time. */
export class CallbackOutboxRepo extends Context.Service<
  CallbackOutboxRepo,
  {
    /** False: another node does it. Until the commit. */
    readonly claim: Effect.Effect<boolean>
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<CallbackRow>>
    /** How many wait, of the workspaces that have any. */
    readonly countWaiting: (
      workspaceIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, number>>
    readonly insert: (callbacks: ReadonlyArray<NewCallback>, now: Date) => Effect.Effect<void>
    /** Adds to the record of the same hour, so that a storm is a few rows. */
    readonly insertDropped: (dropped: ReadonlyArray<Dropped>, now: Date) => Effect.Effect<void>
    readonly remove: (ordinals: ReadonlyArray<bigint>) => Effect.Effect<void>
  }
>()("@scheduling/server/notifications/callbacks/CallbackOutboxRepo") {
  static readonly layer: Layer.Layer<CallbackOutboxRepo, never, SqlClient.SqlClient> = Layer.effect(
    CallbackOutboxRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return CallbackOutboxRepo.of({
        claim: Effect.map(
          sql<{ readonly mine: boolean }>`
            SELECT pg_try_advisory_xact_lock(${callbacksLock}) AS mine`,
          ([row]) => row?.mine === true
        ).pipe(Effect.orDie),

        list: Effect.fn("CallbackOutboxRepo.list")(function* (limit) {
          return yield* sql<CallbackRow>`
            SELECT *
            FROM callback_outbox
            ORDER BY ordinal
            LIMIT ${limit}`
        }, Effect.orDie),

        countWaiting: Effect.fn("CallbackOutboxRepo.countWaiting")(function* (workspaceIds) {
          const rows = yield* sql<{ readonly workspace_id: string; readonly waiting: number }>`
            SELECT workspace_id, count(*)::int AS waiting
            FROM notification_deliveries
            WHERE workspace_id = ANY (${workspaceIds}::uuid[])
              AND status IN ('queued', 'sending')
              AND channel_id IS NULL
            GROUP BY workspace_id`
          return new Map(rows.map(({ waiting, workspace_id }) => [workspace_id, waiting]))
        }, Effect.orDie),

        insert: Effect.fn("CallbackOutboxRepo.insert")(function* (callbacks, now) {
          if (callbacks.length === 0) return
          yield* sql`
            INSERT INTO notification_deliveries (
              id, workspace_id, channel_kind, target, status, begun, ended, other, shown,
              subjects, mergeable, due_at, give_up_at, created_at
            )
            SELECT
              id, workspace_id, 'callback', target, 'queued', begun, ended, 0, shown,
              subjects, false, ${now}, ${new Date(now.getTime() + patienceMs)}, ${now}
            FROM json_to_recordset(${JSON.stringify(callbacks)}::json) AS callbacks (
              id uuid, workspace_id uuid, target text, begun integer, ended integer, shown jsonb,
              subjects uuid[]
            )`
        }, Effect.orDie),

        insertDropped: Effect.fn("CallbackOutboxRepo.insertDropped")(function* (dropped, now) {
          if (dropped.length === 0) return
          yield* sql`
            WITH dropped AS (
              SELECT *
              FROM json_to_recordset(${JSON.stringify(dropped)}::json) AS dropped (
                id uuid, workspace_id uuid, count integer, shown jsonb, error text
              )
            ), added AS (
              UPDATE notification_deliveries AS deliveries
              SET other = deliveries.other + dropped.count, finished_at = ${now}
              FROM dropped
              WHERE deliveries.workspace_id = dropped.workspace_id
                AND deliveries.status = 'dropped'
                AND deliveries.created_at > ${new Date(now.getTime() - recordMs)}
              RETURNING deliveries.workspace_id
            )
            INSERT INTO notification_deliveries (
              id, workspace_id, channel_kind, status, begun, ended, other, shown,
              subjects, mergeable, due_at, give_up_at, error, created_at, finished_at
            )
            SELECT
              id, workspace_id, 'callback', 'dropped', 0, 0, count, shown,
              '{}', false, ${now}, ${now}, error, ${now}, ${now}
            FROM dropped
            WHERE workspace_id NOT IN (SELECT workspace_id FROM added)`
        }, Effect.orDie),

        remove: Effect.fn("CallbackOutboxRepo.remove")(function* (ordinals) {
          yield* sql`
            DELETE FROM callback_outbox
            WHERE ordinal = ANY (${ordinals.map(String)}::bigint[])`
        }, Effect.orDie)
      })
    })
  )
}

/** What is dropped within an hour is one record. */
const recordMs = 3_600_000

/** Of the advisory locks of the database: an arbitrary number that nothing else here takes. */
const callbacksLock = 7_410_925_002
