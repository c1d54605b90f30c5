import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Incidents of monitors and tasks, and what people did about them. */
export const incidents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A monitor or task has at most one open incident. `monitor_id` equals `subject_id` for monitors,
  // whose incidents are deleted with them. Incidents of tasks have no foreign key, because the
  // router inserts them, and it must not wait for the locks of tasks.
  yield* sql`
    CREATE TABLE incidents (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      subject_kind text NOT NULL,
      subject_id uuid NOT NULL,
      subject_name text NOT NULL,
      monitor_id uuid REFERENCES monitors ON DELETE CASCADE,
      opened_at timestamptz NOT NULL,
      closed_at timestamptz,
      recovered boolean NOT NULL DEFAULT false,
      cause_code text NOT NULL,
      cause_message text NOT NULL,
      acknowledged_by uuid,
      acknowledged_at timestamptz,
      snoozed_until timestamptz,
      CHECK (monitor_id = subject_id)
    )`
  yield* sql`CREATE INDEX incidents_by_workspace ON incidents (workspace_id, id DESC)`
  yield* sql`CREATE INDEX incidents_by_subject ON incidents (subject_id, id DESC)`
  yield* sql`CREATE INDEX incidents_by_monitor ON incidents (monitor_id) WHERE monitor_id IS NOT NULL`
  yield* sql`CREATE INDEX incidents_by_end ON incidents (closed_at) WHERE closed_at IS NOT NULL`
  yield* sql`CREATE UNIQUE INDEX incidents_open ON incidents (subject_id) WHERE closed_at IS NULL`

  // What people did about an incident: acknowledgements, snoozes, notes, and closing by hand.
  yield* sql`
    CREATE TABLE incident_actions (
      id uuid PRIMARY KEY,
      incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      at timestamptz NOT NULL,
      type text NOT NULL CHECK (type IN ('acknowledged', 'snoozed', 'note', 'closed')),
      actor jsonb NOT NULL,
      message text,
      until timestamptz
    )`
  yield* sql`CREATE INDEX incident_actions_by_incident ON incident_actions (incident_id, id)`
})
