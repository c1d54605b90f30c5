import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ChannelResult } from "../Kind.ts"
import type { ClaimedDelivery } from "../sending/Claimed.ts"
import { reachedBy, type Walked, walkLanes } from "../sending/laneWalk.ts"
import { countDelivered, updateAttempt } from "../sending/recordAttempt.ts"

export interface ClaimedCallback extends Omit<ClaimedDelivery, "channel_id"> {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly workspace_name: string
  readonly target: string
  readonly share: number
}

export interface CallbackClaim {
  readonly now: Date
  readonly lease_until: Date
  /** Shares and targets that have enough under way on this node. */
  readonly except: ReadonlyArray<number>
  readonly except_targets: ReadonlyArray<string>
  readonly per_lane: number
  readonly limit: number
  /** Lanes after this one. A bigint, as text. */
  readonly after_lane: string
}

export interface CallbackOutcome {
  readonly callback: ClaimedCallback
  readonly verdict: ChannelResult
  readonly status: "delivered" | "failed" | "queued"
  readonly due_at: Date
  readonly now: Date
}

/**
 * Call-backs have no channel, so each delivery is leased by itself: while it is being sent, it is
 * due when the lease ends. The number of the attempt is the fence.
 */
export class CallbackSenderRepo extends Context.Service<
  CallbackSenderRepo,
  {
    readonly claim: (options: CallbackClaim) => Effect.Effect<{
      readonly claimed: ReadonlyArray<ClaimedCallback>
      /** Where to go on; null where there are no more lanes. */
      readonly reached: string | null
    }>
    readonly findNextAt: Effect.Effect<Date | null>
    /** False where the lease was lost. Call it in a transaction. */
    readonly update: (outcome: CallbackOutcome) => Effect.Effect<boolean>
  }
>()("@scheduling/server/notifications/callbacks/CallbackSenderRepo") {
  static readonly layer: Layer.Layer<CallbackSenderRepo, never, SqlClient.SqlClient> = Layer.effect(
    CallbackSenderRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const predicate = "status IN ('queued', 'sending') AND channel_id IS NULL"
      const waiting = sql.literal(predicate)

      return CallbackSenderRepo.of({
        claim: Effect.fn("CallbackSenderRepo.claim")(function* (options) {
          const rows = yield* sql<ClaimedCallback & Walked>`
            WITH RECURSIVE ${walkLanes(sql, {
              table: "notification_deliveries",
              predicate,
              after: options.after_lane
            })}, due AS (
              SELECT found.id
              FROM lanes
              CROSS JOIN LATERAL (
                SELECT id
                FROM notification_deliveries
                WHERE ${waiting}
                  AND lane = lanes.lane
                  AND due_at <= ${options.now}
                  AND target <> ALL (${options.except_targets}::text[])
                ORDER BY due_at
                LIMIT ${options.per_lane}
                FOR UPDATE SKIP LOCKED
              ) AS found
              WHERE (lanes.lane >> 32)::integer <> ALL (${options.except}::integer[])
              LIMIT ${options.limit}
            ), taken AS (
              UPDATE notification_deliveries
              SET
                status = 'sending',
                attempts_count = attempts_count + 1,
                due_at = ${options.lease_until}
              WHERE id = ANY (ARRAY (SELECT id FROM due))
              RETURNING
                id, workspace_id, target, (lane >> 32)::integer AS share, begun, ended, other,
                shown, incident_key, attempts_count, give_up_at, created_at
            ), attempts AS (
              INSERT INTO notification_attempts (delivery_id, number, started_at)
              SELECT id, attempts_count, ${options.now}
              FROM taken
            )
            SELECT taken.*, workspaces.name AS workspace_name, walked.lane, walked.visited
            FROM walked
            LEFT JOIN taken ON true
            LEFT JOIN workspaces ON workspaces.id = taken.workspace_id`
          return { claimed: rows.filter(({ id }) => id !== null), reached: reachedBy(rows[0]) }
        }, Effect.orDie),

        findNextAt: sql<{ readonly due_at: Date | null }>`
          SELECT min(due_at) AS due_at
          FROM notification_deliveries
          WHERE ${waiting}`.pipe(
          Effect.map(([row]) => row?.due_at ?? null),
          Effect.orDie
        ),

        update: Effect.fn("CallbackSenderRepo.update")(function* ({
          callback,
          due_at,
          now,
          status,
          verdict
        }) {
          const held = yield* sql`
            UPDATE notification_deliveries
            SET
              status = ${status},
              due_at = ${due_at},
              status_code = ${verdict.status_code},
              error = ${verdict.error},
              finished_at = ${status === "queued" ? null : now}
            WHERE id = ${callback.id}
              AND workspace_id = ${callback.workspace_id}
              AND status = 'sending'
              AND attempts_count = ${callback.attempts_count}
            RETURNING id`
          if (held.length === 0) return false
          if (status === "delivered") yield* countDelivered(sql, callback.workspace_id, now)
          yield* updateAttempt(sql, callback, verdict, now)
          return true
        }, Effect.orDie)
      })
    })
  )
}
