import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Incidents of monitors and tasks, what people did about them, and maintenance windows. */
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
      certificate_expires_at timestamptz,
      acknowledged_by uuid,
      acknowledged_at timestamptz,
      snoozed_until timestamptz,
      suppressed_by uuid,
      CHECK (monitor_id = subject_id)
    )`
  yield* sql`CREATE INDEX incidents_by_workspace ON incidents (workspace_id, id DESC)`
  yield* sql`CREATE INDEX incidents_by_subject ON incidents (subject_id, id DESC)`
  yield* sql`CREATE INDEX incidents_by_monitor ON incidents (monitor_id) WHERE monitor_id IS NOT NULL`
  yield* sql`CREATE INDEX incidents_by_end ON incidents (closed_at) WHERE closed_at IS NOT NULL`
  yield* sql`CREATE UNIQUE INDEX incidents_open ON incidents (subject_id) WHERE closed_at IS NULL`
  yield* sql`
    CREATE INDEX incidents_open_by_workspace ON incidents (workspace_id, id DESC)
    WHERE closed_at IS NULL`

  yield* sql`
    CREATE INDEX incidents_suppressed ON incidents (workspace_id, suppressed_by)
    WHERE closed_at IS NULL AND suppressed_by IS NOT NULL`

  // What monitors and tasks depend on. The rows of a monitor or task are deleted with it, on either
  // side. There is no foreign key, because both sides can be in one of two tables.
  yield* sql`
    CREATE TABLE dependencies (
      workspace_id uuid NOT NULL,
      subject_kind text NOT NULL,
      subject_id uuid NOT NULL,
      on_kind text NOT NULL,
      on_id uuid NOT NULL,
      PRIMARY KEY (subject_id, on_id),
      CHECK (subject_id <> on_id)
    )`
  yield* sql`CREATE INDEX dependencies_by_target ON dependencies (on_id, subject_id)`
  yield* sql`CREATE INDEX dependencies_by_workspace ON dependencies (workspace_id)`
  yield* sql`
    CREATE FUNCTION remove_dependencies() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      DELETE FROM dependencies
      USING removed
      WHERE dependencies.subject_id = removed.id;
      DELETE FROM dependencies
      USING removed
      WHERE dependencies.on_id = removed.id;
      RETURN NULL;
    END
    $$`
  yield* sql`
    CREATE TRIGGER monitors_dependencies_removed AFTER DELETE ON monitors
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_dependencies()`
  yield* sql`
    CREATE TRIGGER tasks_dependencies_removed AFTER DELETE ON tasks
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_dependencies()`

  // Windows during which failures open no incidents. Whether a window is active is computed from its
  // times or its schedule.
  yield* sql`
    CREATE TABLE maintenance_windows (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      key text NOT NULL,
      version integer NOT NULL DEFAULT 1,
      name text NOT NULL,
      starts_at timestamptz,
      ends_at timestamptz,
      schedule text,
      timezone text NOT NULL,
      duration_seconds integer,
      everything boolean NOT NULL,
      tags text[] NOT NULL,
      monitor_ids uuid[] NOT NULL,
      task_ids uuid[] NOT NULL,
      owner text,
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (workspace_id, key),
      CHECK ((schedule IS NULL) = (duration_seconds IS NULL)),
      CHECK ((schedule IS NULL) = (starts_at IS NOT NULL AND ends_at IS NOT NULL))
    )`
  yield* sql`
    CREATE INDEX maintenance_windows_by_workspace ON maintenance_windows (workspace_id, id DESC)`
  yield* sql`
    CREATE TRIGGER maintenance_windows_versions_removed AFTER DELETE ON maintenance_windows
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions()`

  // What people did about an incident: acknowledgements, snoozes, notes, and closing by hand.
  yield* sql`
    CREATE TABLE incident_actions (
      id uuid PRIMARY KEY,
      incident_id uuid NOT NULL REFERENCES incidents ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      at timestamptz NOT NULL,
      type text NOT NULL CHECK (type IN ('acknowledged', 'snoozed', 'note', 'closed', 'escalated')),
      actor jsonb NOT NULL,
      message text,
      until timestamptz
    )`
  yield* sql`CREATE INDEX incident_actions_by_incident ON incident_actions (incident_id, id)`
})
