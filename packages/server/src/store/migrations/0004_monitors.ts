import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What the kinds have in common. It is written when somebody changes a monitor and when its status
  // changes, not with what it hears: that is in a narrow row of its kind, whose version tells one who
  // decided by what it read whether that still holds. `late` is no status here: it comes with time.
  yield* sql`
    CREATE TABLE monitors (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('heartbeat', 'ssl', 'process')),
      key text,
      name text NOT NULL,
      tags text[] NOT NULL,
      status text NOT NULL CHECK (status IN ('new', 'up', 'warning', 'down', 'paused')),
      changed_at timestamptz NOT NULL,
      open_incident_id uuid,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CHECK (open_incident_id IS NULL OR status = 'down')
    )`
  yield* sql`CREATE INDEX monitors_by_workspace ON monitors (workspace_id, kind, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX monitors_by_key ON monitors (workspace_id, kind, key)
    WHERE key IS NOT NULL`

  // `check_at` is when to look, and never later than the deadline, which is `alert_at`: a ping moves
  // that alone, so that it touches no index. `runs` are those that have started and not ended.
  yield* sql`
    CREATE TABLE heartbeats (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      version integer NOT NULL DEFAULT 1,
      period_seconds integer,
      schedule text,
      timezone text NOT NULL,
      grace_seconds integer NOT NULL,
      max_duration_seconds integer,
      min_interval_seconds integer,
      last_ping_at timestamptz,
      began_at timestamptz,
      last_duration_ms bigint,
      last_rid uuid,
      expected_at timestamptz,
      alert_at timestamptz,
      check_at timestamptz,
      runs jsonb NOT NULL DEFAULT '[]',
      CHECK ((period_seconds IS NULL) <> (schedule IS NULL)),
      CHECK (alert_at IS NULL OR check_at <= alert_at)
    ) WITH (
      fillfactor = 60,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_cost_delay = 0
    )`
  yield* sql`
    CREATE INDEX heartbeats_by_check ON heartbeats (check_at)
    WHERE check_at IS NOT NULL`

  // Who has the URL of a ping can ping: it is found by a keyed hash, and sealed to be shown again.
  yield* sql`
    CREATE TABLE ping_urls (
      monitor_id uuid PRIMARY KEY REFERENCES heartbeats ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      ping_hash text NOT NULL UNIQUE,
      sealed_ping_id text NOT NULL
    )`

  // `check_at` is when it is looked at; while somebody looks, when another one may. `seen` are the
  // certificates that it showed lately, and of each how few days were left when that was told.
  yield* sql`
    CREATE TABLE ssl_monitors (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      version integer NOT NULL DEFAULT 1,
      host text NOT NULL,
      port integer NOT NULL,
      server_name text,
      protocol text NOT NULL,
      warn_days integer[] NOT NULL,
      check_interval_seconds integer NOT NULL,
      check_at timestamptz,
      last_check_at timestamptz,
      failures smallint NOT NULL DEFAULT 0,
      verification text,
      message text,
      certificate jsonb,
      seen jsonb NOT NULL DEFAULT '[]'
    )`
  yield* sql`
    CREATE INDEX ssl_monitors_by_check ON ssl_monitors (check_at)
    WHERE check_at IS NOT NULL`

  // One row for each time that a monitor is down. A monitor has one that is open at most.
  yield* sql`
    CREATE TABLE incidents (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      monitor_id uuid NOT NULL REFERENCES monitors ON DELETE CASCADE,
      kind text NOT NULL,
      opened_at timestamptz NOT NULL,
      closed_at timestamptz,
      cause_code text NOT NULL,
      cause_message text NOT NULL,
      acknowledged_by uuid,
      acknowledged_at timestamptz
    )`
  yield* sql`CREATE INDEX incidents_by_workspace ON incidents (workspace_id, id DESC)`
  yield* sql`CREATE INDEX incidents_by_monitor ON incidents (monitor_id, id DESC)`
  yield* sql`CREATE INDEX incidents_by_end ON incidents (closed_at) WHERE closed_at IS NOT NULL`
  yield* sql`CREATE UNIQUE INDEX incidents_open ON incidents (monitor_id) WHERE closed_at IS NULL`

  // What monitors heard and saw, a partition a day, as executions are.
  yield* sql`
    CREATE TABLE monitor_events (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      monitor_id uuid NOT NULL,
      type text NOT NULL,
      status text NOT NULL,
      at timestamptz NOT NULL,
      details jsonb
    ) PARTITION BY RANGE (id)`
  yield* sql`CREATE INDEX monitor_events_by_monitor ON monitor_events (monitor_id, id DESC)`
  yield* sql`
    CREATE TABLE monitor_events_ahead PARTITION OF monitor_events
    FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`

  // Monitors whose events are still to be deleted. They go with their workspace too, by cascade.
  yield* sql`CREATE TABLE removed_monitors (monitor_id uuid PRIMARY KEY)`
  yield* sql`
    CREATE FUNCTION remember_removed_monitors() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      INSERT INTO removed_monitors (monitor_id)
      SELECT id
      FROM removed;
      RETURN NULL;
    END
    $$`
  yield* sql`
    CREATE TRIGGER monitors_removed AFTER DELETE ON monitors
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remember_removed_monitors()`
})
