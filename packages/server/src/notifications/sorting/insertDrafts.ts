import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Draft } from "./gather.ts"
import { patienceMs } from "../sending/waits.ts"

/** Writes new deliveries, and adds to those that are open. Their channels must be locked. */
export const insertDrafts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  drafts: ReadonlyArray<Draft>,
  now: Date
) {
  if (drafts.length === 0) return
  const json = JSON.stringify(
    drafts.map(({ after, incidents, opened: _opened, receiver, subjects, ...draft }, place) => ({
      ...draft,
      place,
      workspace_id: receiver.workspace_id,
      channel_id: receiver.id,
      channel_kind: receiver.kind,
      subjects: [...subjects],
      incidents: [...incidents],
      after: [...after]
    }))
  )
  const rows = sql`
    json_to_recordset(${json}::json) AS drafts (
      place integer, id uuid, "isNew" boolean, workspace_id uuid, channel_id uuid,
      channel_kind text, begun integer, ended integer, other integer, shown jsonb,
      subjects uuid[], incidents uuid[], after uuid[], incident_key uuid, mergeable boolean, due_at timestamptz
    )`
  const patience = sql`${patienceMs / 1_000} * interval '1 second'`
  // What is under way already and about the same comes first.
  const earlier = sql.literal(`(
    SELECT coalesce(array_agg(earlier.id), '{}')
    FROM notification_deliveries AS earlier
    WHERE earlier.channel_id = drafts.channel_id
      AND earlier.status IN ('queued', 'sending')
      AND earlier.subjects && drafts.subjects
      AND earlier.id <> drafts.id
  )`)
  yield* sql`
    UPDATE notification_deliveries AS deliveries
    SET
      begun = deliveries.begun + drafts.begun,
      ended = deliveries.ended + drafts.ended,
      other = deliveries.other + drafts.other,
      shown = jsonb_path_query_array(deliveries.shown || drafts.shown, '$[0 to 9]'),
      subjects = deliveries.subjects || drafts.subjects,
      after = deliveries.after || drafts.after || ${earlier},
      -- The quiet hours for which it waits may be over, by a change of the settings.
      due_at = least(deliveries.due_at, drafts.due_at),
      give_up_at = least(deliveries.give_up_at, drafts.due_at + ${patience})
    FROM ${rows}
    WHERE deliveries.id = drafts.id
      AND NOT drafts."isNew"`
  yield* sql`
    INSERT INTO notification_deliveries (
      id, workspace_id, channel_id, channel_kind, status, begun, ended, other, shown,
      subjects, after, incident_key, mergeable, due_at, give_up_at, created_at
    )
    SELECT
      id, workspace_id, channel_id, channel_kind, 'queued', begun, ended, other, shown,
      subjects, after || ${earlier}, incident_key, mergeable, due_at,
      due_at + ${patience}, ${now}
    FROM ${rows}
    WHERE "isNew"
    ORDER BY place`
  yield* sql`
    INSERT INTO incident_deliveries (incident_id, delivery_id)
    SELECT unnest(incidents), id
    FROM ${rows}
    ON CONFLICT DO NOTHING`
  yield* sql`
    UPDATE notification_channels AS channels
    SET next_at = least(channels.next_at, greatest(drafts.due_at, channels.held_until))
    FROM (
      SELECT channel_id, min(due_at) AS due_at
      FROM ${rows}
      GROUP BY channel_id
    ) AS drafts
    WHERE channels.id = drafts.channel_id
      AND (channels.lease_until IS NULL OR channels.lease_until <= ${now})`
})
