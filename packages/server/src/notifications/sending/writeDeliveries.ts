import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { deliveryRetryPeriodMs } from "./decideAfterAttempt.ts"
import type { NewDelivery } from "./newDelivery.ts"
import { unfinishedDeliverySql, updateNextDeliveries } from "./updateNextDeliveries.ts"

/** Writes new deliveries, and adds events to waiting ones. The channels must be locked. */
export const writeDeliveries = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  deliveries: ReadonlyArray<NewDelivery>,
  now: Date
) {
  if (deliveries.length === 0) return
  const json = JSON.stringify(
    deliveries.map(({ after, incidents, opened: _, subjects, ...delivery }, position) => ({
      ...delivery,
      position,
      subjects: [...subjects],
      incidents: [...incidents],
      after: [...after]
    }))
  )
  const rows = sql`
    json_to_recordset(${json}::json) AS given (
      position integer, id uuid, is_new boolean, workspace_id uuid, channel_id uuid,
      channel_kind text, target text, status text, error text, begun integer, ended integer,
      other integer, shown jsonb, subjects uuid[], incidents uuid[], after uuid[],
      incident_key uuid, mergeable boolean, due_at timestamptz
    )`
  const patience = sql`${deliveryRetryPeriodMs / 1_000} * interval '1 second'`
  // Unfinished deliveries about the same subject must be sent first.
  const earlier = sql.literal(`(
    SELECT coalesce(array_agg(earlier.id), '{}')
    FROM notification_deliveries AS earlier
    WHERE earlier.channel_id = given.channel_id
      AND ${unfinishedDeliverySql("earlier")}
      AND earlier.subjects && given.subjects
      AND earlier.id <> given.id
  )`)
  if (deliveries.some(({ is_new }) => !is_new)) {
    yield* sql`
      UPDATE notification_deliveries AS deliveries
      SET
        begun = deliveries.begun + given.begun,
        ended = deliveries.ended + given.ended,
        other = deliveries.other + given.other,
        shown = jsonb_path_query_array(deliveries.shown || given.shown, '$[0 to 9]'),
        subjects = ARRAY (SELECT DISTINCT unnest(deliveries.subjects || given.subjects)),
        after = ARRAY (SELECT DISTINCT unnest(deliveries.after || given.after || ${earlier})),
        -- A change of the settings may have ended the quiet hours for which the delivery waits.
        due_at = least(deliveries.due_at, given.due_at),
        give_up_at = least(deliveries.give_up_at, given.due_at + ${patience}),
        finished_at = CASE WHEN deliveries.status = 'dropped' THEN ${now}::timestamptz END
      FROM ${rows}
      WHERE deliveries.id = given.id
        AND NOT given.is_new`
  }
  yield* sql`
    INSERT INTO notification_deliveries (
      id, workspace_id, channel_id, channel_kind, target, status, error, begun, ended, other, shown,
      subjects, after, incident_key, mergeable, due_at, next_at, give_up_at, created_at, finished_at
    )
    SELECT
      id, workspace_id, channel_id, channel_kind, target, status, error, begun, ended, other, shown,
      subjects, after || ${earlier}, incident_key, mergeable, due_at,
      CASE WHEN channel_id IS NULL AND status = 'queued' THEN due_at END,
      due_at + ${patience}, ${now}, CASE WHEN status = 'dropped' THEN ${now}::timestamptz END
    FROM ${rows}
    WHERE is_new
    ORDER BY position`
  const channelIds = deliveries.flatMap(({ channel_id }) => channel_id ?? [])
  if (channelIds.length === 0) return
  yield* sql`
    INSERT INTO incident_deliveries (incident_id, delivery_id)
    SELECT unnest(incidents), id
    FROM ${rows}
    ON CONFLICT DO NOTHING`
  yield* updateNextDeliveries(sql, [...new Set(channelIds)], now)
})
