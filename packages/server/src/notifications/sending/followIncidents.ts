import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type IncidentRow, IncidentSubscribers } from "../../incidents/index.ts"
import { lockNextDeliveries, updateNextDeliveries } from "./updateNextDeliveries.ts"

/**
 * Reacts when people act on incidents. If somebody acknowledges or closes an incident, reminders
 * and escalations stop and unsent messages are cancelled. If somebody snoozes it, reminders and
 * escalations are postponed.
 */
export const FollowIncidentsLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const setReminder = ({ id, subject_id }: IncidentRow, remindAt: Date | null) => sql`
      UPDATE problems
      SET remind_at = ${remindAt}
      WHERE subject_id = ${subject_id}
        AND incident_id = ${id}`

    /** Postpones the next steps of escalation policies to the end of the snooze. */
    const postpone = (
      { snoozed_until, subject_id, workspace_id }: IncidentRow,
      until: Date | null,
      now: Date
    ) => sql`
      UPDATE escalations
      SET due_at = CASE
        WHEN due_at = ${snoozed_until}::timestamptz THEN ${until ?? now}
        ELSE greatest(due_at, ${until}::timestamptz)
      END
      WHERE subject_id = ${subject_id}
        AND workspace_id = ${workspace_id}
        AND due_at IS NOT NULL`

    const silenced = Effect.fn("FollowIncidents.silenced")(function* (
      incident: IncidentRow,
      now: Date
    ) {
      const { id, subject_id, workspace_id } = incident
      yield* setReminder(incident, null)
      yield* sql`
        DELETE FROM escalations
        WHERE subject_id = ${subject_id}
          AND workspace_id = ${workspace_id}`
      const channels = yield* sql<{ readonly channel_id: string }>`
        SELECT DISTINCT sent.channel_id
        FROM incident_deliveries
        JOIN notification_deliveries AS sent ON sent.id = incident_deliveries.delivery_id
        WHERE incident_deliveries.incident_id = ${id}
          AND sent.workspace_id = ${workspace_id}
          AND sent.status = 'queued'`
      if (channels.length === 0) return
      const channelIds = channels.map(({ channel_id }) => channel_id)
      yield* sql`
        SELECT id
        FROM notification_channels
        WHERE id = ANY (${channelIds}::uuid[])
        ORDER BY id
        FOR UPDATE`
      yield* lockNextDeliveries(sql, channelIds)
      // A message about several problems, or about a recovery, is still sent. So is the question
      // for a recipient's consent, which has no events.
      const cancelled = yield* sql<{ readonly channel_id: string }>`
        UPDATE notification_deliveries
        SET
          status = 'cancelled',
          next_at = NULL,
          finished_at = ${now},
          error = 'somebody is taking care of the incident'
        WHERE workspace_id = ${workspace_id}
          AND channel_id = ANY (${channelIds}::uuid[])
          AND status = 'queued'
          AND begun > 0
          AND ended + other = 0
          AND subjects <@ ARRAY[${subject_id}::uuid]
        RETURNING channel_id`
      // A channel that received no message about the problem is not notified of its end either.
      yield* sql`
        DELETE FROM notified_channels
        WHERE subject_id = ${subject_id}
          AND channel_id = ANY (${cancelled.map(({ channel_id }) => channel_id)}::uuid[])
          AND NOT EXISTS (
            SELECT
            FROM incident_deliveries
            JOIN notification_deliveries AS sent ON sent.id = incident_deliveries.delivery_id
            WHERE incident_deliveries.incident_id = ${id}
              AND sent.channel_id = notified_channels.channel_id
              AND sent.status <> 'cancelled'
          )`
      yield* updateNextDeliveries(sql, channelIds, now)
    }, Effect.orDie)

    yield* (yield* IncidentSubscribers).subscribe({
      silenced,
      // When the snooze ends, one reminder is sent, even if the settings specify no reminders.
      snoozed: Effect.fn("FollowIncidents.snoozed")(function* (incident, until, now) {
        yield* setReminder(incident, until ?? now)
        yield* postpone(incident, until, now)
      }, Effect.orDie)
    })
  })
)
