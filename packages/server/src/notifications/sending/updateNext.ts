import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** SQL: true for unfinished deliveries. */
export const unfinished = (table = "deliveries") => `${table}.status IN ('queued', 'sending')`

/**
 * SQL: the next delivery of the channel in `channels`. A delivery waits for earlier ones about the
 * same subject. An unconfirmed channel gets only the mail that asks for consent.
 */
export const nextDeliverySql = `
  SELECT
    deliveries.id,
    greatest(deliveries.due_at, channels.held_until) AS next_at
  FROM notification_deliveries AS deliveries
  WHERE deliveries.channel_id = channels.id
    AND deliveries.workspace_id = channels.workspace_id
    AND ${unfinished()}
    AND (channels.confirmed OR deliveries.begun + deliveries.ended + deliveries.other = 0)
    AND NOT EXISTS (
      SELECT
      FROM notification_deliveries AS earlier
      WHERE earlier.channel_id = deliveries.channel_id
        AND ${unfinished("earlier")}
        AND earlier.id = ANY (deliveries.after)
    )
  ORDER BY next_at, deliveries.ordinal
  LIMIT 1`

/** Locks the channels' deliveries that can be claimed by a node or extended with events. */
export const lockNext = (sql: SqlClient.SqlClient, channelIds: ReadonlyArray<string>) => sql`
  SELECT id
  FROM notification_deliveries AS deliveries
  WHERE channel_id = ANY (${channelIds}::uuid[])
    AND ${sql.literal(unfinished())}
    AND (mergeable OR next_at IS NOT NULL)
  ORDER BY id
  FOR UPDATE`

/**
 * Sets `next_at` of the next delivery of each channel, and clears it for all others. If a message
 * is being sent to a channel, that delivery remains its next one. The channels must be locked.
 */
export const updateNext = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  channelIds: ReadonlyArray<string>,
  now: Date
) {
  // A separate statement, so that the next one sees deliveries that were claimed before this one
  // got the lock.
  yield* lockNext(sql, channelIds)
  yield* sql`
    WITH next AS (
      SELECT channels.id AS channel_id, found.id, found.next_at
      FROM notification_channels AS channels
      LEFT JOIN LATERAL (${sql.literal(nextDeliverySql)}) AS found ON true
      WHERE channels.id = ANY (${channelIds}::uuid[])
        AND NOT EXISTS (
          SELECT
          FROM notification_deliveries AS sent
          WHERE sent.channel_id = channels.id
            AND sent.status = 'sending'
            AND sent.next_at > ${now}
        )
    )
    UPDATE notification_deliveries AS deliveries
    SET next_at = CASE WHEN deliveries.id = next.id THEN next.next_at END
    FROM next
    WHERE deliveries.channel_id = next.channel_id
      AND ${sql.literal(unfinished())}
      AND deliveries.next_at IS DISTINCT FROM CASE
        WHEN deliveries.id = next.id THEN next.next_at
      END`
})
