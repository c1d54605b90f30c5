import type { SqlClient } from "effect/sql"
import { isAheadOfClock, runInOwnTransactions } from "../store/index.ts"
import { missedSuccessCheckDelayMs, dependencyRecoveryHoldMs } from "./routing/routeEvents.ts"

/**
 * Corrects times of deliveries, channels and reminders that are in the future because the database
 * clock was set back.
 */
export const correctNotificationTimesAfterClockSetBack = (sql: SqlClient.SqlClient) =>
  runInOwnTransactions(
    sql`
      UPDATE notification_channels
      SET
        held_until = now() + (held_until - sent_at),
        sent_at = now()
      WHERE ${sql.literal(isAheadOfClock("sent_at"))}`,
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
          AND (${sql.literal(isAheadOfClock("deliveries.due_at"))} OR ${sql.literal(isAheadOfClock("deliveries.next_at"))})
      ) AS written
      WHERE notification_deliveries.id = written.id
        AND ${sql.literal(isAheadOfClock("written.at"))}`,
    sql`
      UPDATE notification_deliveries AS deliveries
      SET next_at = least(deliveries.next_at, greatest(deliveries.due_at, channels.held_until))
      FROM notification_channels AS channels
      WHERE channels.id = deliveries.channel_id
        AND deliveries.status = 'queued'
        AND ${sql.literal(isAheadOfClock("deliveries.next_at"))}`,
    sql`
      UPDATE problems
      SET
        hold_until = least(
          problems.hold_until, now() + ${dependencyRecoveryHoldMs} * interval '1 millisecond'
        ),
        check_at = least(problems.check_at, now() + ${missedSuccessCheckDelayMs} * interval '1 millisecond'),
        remind_at = least(
          problems.remind_at,
          now() + (settings.settings ->> 'remind_every_seconds')::float8 * interval '1 second'
        )
      FROM problems AS ahead
      LEFT JOIN notification_settings AS settings USING (workspace_id)
      WHERE problems.subject_id = ahead.subject_id
        AND (
          ${sql.literal(isAheadOfClock("ahead.hold_until"))}
          OR ${sql.literal(isAheadOfClock("ahead.check_at"))}
          OR ${sql.literal(isAheadOfClock("ahead.remind_at"))}
        )`,
    sql`
      UPDATE escalations
      SET due_at = least(
        escalations.due_at,
        greatest(
          incidents.snoozed_until,
          now() + greatest(
            policies.repeat_after_seconds,
            (policies.steps -> escalations.step ->> 'after_seconds')::integer
          ) * interval '1 second'
        )
      )
      FROM escalation_policies AS policies, problems
      LEFT JOIN incidents ON incidents.id = problems.incident_id
      WHERE policies.id = escalations.policy_id
        AND problems.subject_id = escalations.subject_id
        AND ${sql.literal(isAheadOfClock("escalations.due_at"))}`
  )
