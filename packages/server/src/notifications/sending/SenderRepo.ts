import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ChannelRow, columnNames } from "../channels/ChannelsRepo.ts"
import type { Claimed, ClaimedDelivery, Outcome } from "./Claimed.ts"
import { reachedBy, type Walked, walkLanes } from "./laneWalk.ts"
import { countDelivered, updateAttempt } from "./recordAttempt.ts"
import type { ChannelResult } from "../Kind.ts"

export interface ClaimOptions {
  readonly now: Date
  readonly lease_until: Date
  /** Shares that have enough under way on this node. */
  readonly except: ReadonlyArray<number>
  /** Shares that have enough under way to channels that failed lately. */
  readonly except_failing: ReadonlyArray<number>
  /** So many channels of one lane, and of all. */
  readonly per_lane: number
  readonly limit: number
  /** Lanes after this one. A bigint, as text. */
  readonly after_lane: string
}

export class SenderRepo extends Context.Service<
  SenderRepo,
  {
    readonly claim: (options: ClaimOptions) => Effect.Effect<{
      readonly claimed: ReadonlyArray<Claimed>
      /** Where to go on; null where there are no more lanes. */
      readonly reached: string | null
    }>
    /** When there will be something to send next. */
    readonly findNextAt: Effect.Effect<Date | null>
    /** False where the lease was lost. Call it in a transaction. */
    readonly update: (outcome: Outcome) => Effect.Effect<boolean>
    readonly updateLast: (
      channel: Pick<ChannelRow, "id" | "workspace_id">,
      verdict: ChannelResult,
      now: Date
    ) => Effect.Effect<void>
    readonly findWorkspaceName: (id: string) => Effect.Effect<string>
  }
>()("@scheduling/server/notifications/sending/SenderRepo") {
  static readonly layer: Layer.Layer<SenderRepo, never, SqlClient.SqlClient> = Layer.effect(
    SenderRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const channelColumns = sql.literal(columnNames.map((name) => `channels.${name}`).join(", "))

      /** It has not ended, and nothing that has to be told before it is still to be told. */
      const isNext = sql.literal(`
        deliveries.status IN ('queued', 'sending')
        AND NOT EXISTS (
          SELECT
          FROM notification_deliveries AS earlier
          WHERE earlier.channel_id = deliveries.channel_id
            AND earlier.status IN ('queued', 'sending')
            AND earlier.id = ANY (deliveries.after)
        )`)

      const claimChannels = (options: ClaimOptions) => sql<Claimed["channel"] & Walked>`
        WITH RECURSIVE ${walkLanes(sql, {
          table: "notification_channels",
          predicate: "next_at IS NOT NULL",
          after: options.after_lane
        })}, due AS (
          SELECT found.id
          FROM lanes
          CROSS JOIN LATERAL (
            SELECT id
            FROM notification_channels
            WHERE next_at <= ${options.now}
              AND lane = lanes.lane
              AND (lease_until IS NULL OR lease_until <= ${options.now})
              AND (
                failures = 0
                OR (lanes.lane >> 32)::integer <> ALL (${options.except_failing}::integer[])
              )
            ORDER BY next_at
            LIMIT ${options.per_lane}
            FOR UPDATE SKIP LOCKED
          ) AS found
          WHERE (lanes.lane >> 32)::integer <> ALL (${options.except}::integer[])
          LIMIT ${options.limit}
        ), claimed AS (
          UPDATE notification_channels AS channels
          SET
            lease = gen_random_uuid(),
            lease_until = ${options.lease_until},
            next_at = ${options.lease_until}
          WHERE channels.id = ANY (ARRAY (SELECT id FROM due))
          RETURNING
            ${channelColumns}, channels.lease, channels.failures, channels.window_ms,
            channels.sent_at, (channels.lane >> 32)::integer AS share
        )
        SELECT
          claimed.*, workspaces.name AS workspace_name,
          (notification_settings.settings ->> 'group_seconds')::int AS group_seconds,
          walked.lane, walked.visited
        FROM walked
        LEFT JOIN claimed ON true
        LEFT JOIN workspaces ON workspaces.id = claimed.workspace_id
        LEFT JOIN notification_settings
          ON notification_settings.workspace_id = claimed.workspace_id`

      const takeNext = (channelIds: ReadonlyArray<string>, now: Date) => sql<ClaimedDelivery>`
        WITH next AS (
          SELECT picked.id
          FROM unnest(${channelIds}::uuid[]) AS asked (channel_id)
          CROSS JOIN LATERAL (
            SELECT deliveries.id
            FROM notification_deliveries AS deliveries
            JOIN notification_channels AS channels ON channels.id = deliveries.channel_id
            WHERE deliveries.channel_id = asked.channel_id
              AND deliveries.due_at <= ${now}
              AND (channels.confirmed OR deliveries.begun + deliveries.ended + deliveries.other = 0)
              AND ${isNext}
            ORDER BY deliveries.ordinal
            LIMIT 1
          ) AS picked
        ), taken AS (
          UPDATE notification_deliveries
          SET status = 'sending', mergeable = false, attempts_count = attempts_count + 1
          WHERE id = ANY (ARRAY (SELECT id FROM next))
          RETURNING
            id, channel_id, begun, ended, other, shown, incident_key, attempts_count, give_up_at,
            created_at
        ), attempts AS (
          INSERT INTO notification_attempts (delivery_id, number, started_at)
          SELECT id, attempts_count, ${now}
          FROM taken
        )
        SELECT *
        FROM taken`

      /** The row of the channel must be locked, by a statement before this one: it sees what came in. */
      const released = (heldUntil: Date | null) => sql`
        lease = NULL,
        lease_until = NULL,
        next_at = CASE WHEN channels.enabled THEN (
          SELECT greatest(min(deliveries.due_at), ${heldUntil}::timestamptz)
          FROM notification_deliveries AS deliveries
          WHERE deliveries.channel_id = channels.id
            AND (channels.confirmed OR deliveries.begun + deliveries.ended + deliveries.other = 0)
            AND ${isNext}
        ) END`

      const last = ({ error, outcome }: ChannelResult, now: Date) => sql`
        last_status = ${outcome}, last_error = ${error}, last_at = ${now}`

      return SenderRepo.of({
        claim: Effect.fn("SenderRepo.claim")(
          function* (options) {
            const rows = yield* claimChannels(options)
            const channels = rows.filter(({ id }) => id !== null)
            const reached = reachedBy(rows[0])
            if (channels.length === 0) return { claimed: [], reached }
            const deliveries = yield* takeNext(
              channels.map(({ id }) => id),
              options.now
            )
            const byChannel = new Map(deliveries.map((one) => [one.channel_id, one]))
            const claimed: Array<Claimed> = []
            for (const channel of channels) {
              const delivery = byChannel.get(channel.id)
              if (delivery !== undefined) claimed.push({ channel, delivery })
              else {
                yield* sql`
                  UPDATE notification_channels AS channels
                  SET ${released(null)}
                  WHERE channels.id = ${channel.id}`
              }
            }
            return { claimed, reached }
          },
          sql.withTransaction,
          Effect.orDie
        ),

        findNextAt: sql<{ readonly next_at: Date | null }>`
          SELECT min(next_at) AS next_at
          FROM notification_channels
          WHERE next_at IS NOT NULL`.pipe(
          Effect.map(([row]) => row?.next_at ?? null),
          Effect.orDie
        ),

        update: Effect.fn("SenderRepo.update")(function* (outcome) {
          const { channel, delivery, verdict } = outcome
          const held = yield* sql`
            SELECT id
            FROM notification_channels
            WHERE id = ${channel.id}
              AND lease = ${channel.lease}
            FOR UPDATE`
          if (held.length === 0) return false
          const finished_at = outcome.status === "queued" ? null : outcome.now
          const updated = yield* sql`
            UPDATE notification_deliveries
            SET
              status = ${outcome.status},
              due_at = ${outcome.due_at},
              status_code = ${verdict.status_code},
              error = ${verdict.error},
              finished_at = ${finished_at}
            WHERE id = ${delivery.id}
              AND status = 'sending'
            RETURNING id`
          if (updated.length > 0 && outcome.status === "delivered") {
            yield* countDelivered(sql, channel.workspace_id, outcome.now)
          }
          yield* updateAttempt(sql, delivery, verdict, outcome.now)
          // All in one: a second update of a row in a transaction makes PostgreSQL check its foreign
          // keys again, which waits for whoever deletes the workspace and waits for this row.
          yield* sql`
            UPDATE notification_channels AS channels
            SET
              ${released(outcome.held_until)},
              ${last(verdict, outcome.now)},
              held_until = ${outcome.held_until},
              failures = ${outcome.failures},
              window_ms = ${outcome.window_ms},
              sent_at = ${outcome.now},
              config = config || ${JSON.stringify(outcome.changes)}::jsonb
            WHERE channels.id = ${channel.id}`
          return true
        }, Effect.orDie),

        updateLast: Effect.fn("SenderRepo.updateLast")(function* (channel, verdict, now) {
          yield* sql`
            UPDATE notification_channels
            SET ${last(verdict, now)}
            WHERE id = ${channel.id}
              AND workspace_id = ${channel.workspace_id}`
        }, Effect.orDie),

        findWorkspaceName: Effect.fn("SenderRepo.findWorkspaceName")(function* (id) {
          const [row] = yield* sql<{ readonly name: string }>`
            SELECT name
            FROM workspaces
            WHERE id = ${id}`
          return row?.name ?? ""
        }, Effect.orDie)
      })
    })
  )
}
