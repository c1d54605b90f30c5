import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type IncidentRow, IncidentSubscribers } from "../../incidents/index.ts"
import { lockNext, updateNext } from "./updateNext.ts"

/** Stops reminders and cancels unsent messages when somebody takes care of an incident. */
export const FollowIncidentsLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const setReminder = ({ id, subject_id }: IncidentRow, remindAt: Date | null) => sql`
      UPDATE problems
      SET remind_at = ${remindAt}
      WHERE subject_id = ${subject_id}
        AND incident_id = ${id}`

    const silenced = Effect.fn("FollowIncidents.silenced")(function* (
      incident: IncidentRow,
      now: Date
    ) {
      const { id, subject_id, workspace_id } = incident
      yield* setReminder(incident, null)
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
      yield* lockNext(sql, channelIds)
      // A message about several problems, or about a recovery, is still sent.
      const cancelled = yield* sql<{ readonly channel_id: string; readonly begun: number }>`
        UPDATE notification_deliveries
        SET
          status = 'cancelled',
          next_at = NULL,
          finished_at = ${now},
          error = 'somebody takes care of the incident'
        WHERE workspace_id = ${workspace_id}
          AND channel_id = ANY (${channelIds}::uuid[])
          AND status = 'queued'
          AND ended + other = 0
          AND subjects <@ ARRAY[${subject_id}::uuid]
        RETURNING channel_id, begun`
      // A channel that has received nothing about the problem is not notified of its end either.
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
      yield* updateNext(sql, channelIds, now)
    }, Effect.orDie)

    yield* (yield* IncidentSubscribers).subscribe({
      silenced,
      // Without reminders in the settings, the end of the snooze is reminded of once.
      snoozed: (incident, until, now) =>
        Effect.asVoid(Effect.orDie(setReminder(incident, until ?? now)))
    })
  })
)
