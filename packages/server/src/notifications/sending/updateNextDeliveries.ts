import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** SQL condition for unfinished deliveries. */
export const unfinishedDeliverySql = (table = "deliveries") =>
  `${table}.status IN ('queued', 'sending')`

/**
 * SQL for the next delivery of the channel in `channels`. A delivery waits for earlier deliveries
 * about the same subject. An unconfirmed channel receives only the email that requests consent.
 */
export const nextDeliverySql = `
  SELECT
    deliveries.id,
    greatest(deliveries.due_at, channels.held_until) AS next_at
  FROM notification_deliveries AS deliveries
  WHERE deliveries.channel_id = channels.id
    AND deliveries.workspace_id = channels.workspace_id
    AND ${unfinishedDeliverySql()}
    AND (channels.confirmed OR deliveries.begun + deliveries.ended + deliveries.other = 0)
    AND NOT EXISTS (
      SELECT
      FROM notification_deliveries AS earlier
      WHERE earlier.channel_id = deliveries.channel_id
        AND ${unfinishedDeliverySql("earlier")}
        AND earlier.id = ANY (deliveries.after)
    )
  ORDER BY next_at, deliveries.ordinal
  LIMIT 1`

/** Locks the channels' deliveries that a node can claim or to which events can be added. */
export const lockNextDeliveries = (
  sql: SqlClient.SqlClient,
  channelIds: ReadonlyArray<string>
) => sql`
  SELECT id
  FROM notification_deliveries AS deliveries
  WHERE channel_id = ANY (${channelIds}::uuid[])
    AND ${sql.literal(unfinishedDeliverySql())}
    AND (mergeable OR next_at IS NOT NULL)
  ORDER BY id
  FOR UPDATE`

/**
 * Sets `next_at` of the next delivery of each channel, and clears it for all other deliveries. If a
 * message is being sent to a channel, its delivery remains the next one. The channels must be
 * locked.
 */
export const updateNextDeliveries = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  channelIds: ReadonlyArray<string>,
  now: Date
) {
  // This is a separate statement, so that the following statement sees deliveries that were claimed
  // before the lock was taken.
  yield* lockNextDeliveries(sql, channelIds)
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
      AND ${sql.literal(unfinishedDeliverySql())}
      AND deliveries.next_at IS DISTINCT FROM CASE
        WHEN deliveries.id = next.id THEN next.next_at
      END`
})
