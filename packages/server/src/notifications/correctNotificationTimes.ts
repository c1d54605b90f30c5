import type { SqlClient } from "effect/sql"
import { isAhead, runInOwnTransactions } from "../store/index.ts"
import { checkAfterMs } from "./routing/route.ts"

/**
 * Moves the times of deliveries, channels and reminders back after the database clock was set back,
 * so that they agree with the current clock.
 */
export const correctNotificationTimes = (sql: SqlClient.SqlClient) =>
  runInOwnTransactions(
    sql`
      UPDATE notification_channels
      SET
        held_until = now() + (held_until - sent_at),
        sent_at = now()
      WHERE ${sql.literal(isAhead("sent_at"))}`,
    sql`
      UPDATE notification_deliveries
      SET
        due_at = now() + greatest(interval '0', due_at - written.at),
        next_at = now() + greatest(interval '0', next_at - written.at)
      FROM (
        SELECT
          deliveries.id,
          greatest(
            deliveries.created_at,
            (
              SELECT max(started_at)
              FROM notification_attempts
              WHERE delivery_id = deliveries.id
            )
          ) AS at
        FROM notification_deliveries AS deliveries
        WHERE deliveries.status IN ('queued', 'sending')
          AND (${sql.literal(isAhead("deliveries.due_at"))} OR ${sql.literal(isAhead("deliveries.next_at"))})
      ) AS written
      WHERE notification_deliveries.id = written.id
        AND ${sql.literal(isAhead("written.at"))}`,
    sql`
      UPDATE notification_deliveries AS deliveries
      SET next_at = least(deliveries.next_at, greatest(deliveries.due_at, channels.held_until))
      FROM notification_channels AS channels
      WHERE channels.id = deliveries.channel_id
        AND deliveries.status = 'queued'
        AND ${sql.literal(isAhead("deliveries.next_at"))}`,
    sql`
      UPDATE problems
      SET
        check_at = least(problems.check_at, now() + ${checkAfterMs} * interval '1 millisecond'),
        remind_at = least(
          problems.remind_at,
          now() + (settings.settings ->> 'remind_every_seconds')::float8 * interval '1 second'
        )
      FROM problems AS ahead
      LEFT JOIN notification_settings AS settings USING (workspace_id)
      WHERE problems.subject_id = ahead.subject_id
        AND (${sql.literal(isAhead("ahead.check_at"))} OR ${sql.literal(isAhead("ahead.remind_at"))})`
  )
