import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Monitors of all kinds and their events. */
export const monitoring = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The columns that all kinds have. A row is written when a user changes the monitor and when its
  // status changes, but not by each ping or report, which updates a narrow row of the kind. The
  // `version` of that row shows whether a decision that was based on an earlier read still holds.
  // `withheld_cause` says why the monitor is down, if maintenance keeps it from opening an
  // incident. `has_dependencies` is true if there may be rows in `dependencies`. The status `late`
  // is not stored, because a monitor becomes late just by the passing of time.
  yield* sql`
    CREATE TABLE monitors (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('heartbeat', 'ssl', 'process', 'http', 'tcp', 'dns')),
      key text,
      owner text,
      version integer NOT NULL DEFAULT 1,
      name text NOT NULL,
      tags text[] NOT NULL,
      status text NOT NULL CHECK (status IN ('new', 'up', 'warning', 'down', 'paused')),
      changed_at timestamptz NOT NULL,
      open_incident_id uuid,
      withheld_cause jsonb,
      has_dependencies boolean NOT NULL DEFAULT false,
      created_by jsonb,
      updated_by jsonb,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CHECK (open_incident_id IS NULL OR status = 'down'),
      CHECK (withheld_cause IS NULL OR (status = 'down' AND open_incident_id IS NULL))
    )`
  yield* sql`
    CREATE INDEX monitors_withheld ON monitors (workspace_id, id)
    WHERE withheld_cause IS NOT NULL`
  yield* sql`CREATE INDEX monitors_by_workspace ON monitors (workspace_id, kind, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX monitors_by_key ON monitors (workspace_id, kind, key)
    WHERE key IS NOT NULL`
  yield* sql`
    CREATE INDEX monitors_by_owner ON monitors (workspace_id, owner)
    WHERE owner IS NOT NULL`

  // `check_at` is when to check the monitor, and never later than its deadline `alert_at`. A ping
  // changes only the deadline, so that no index has to be updated. `runs` are the job runs that
  // have started and not finished.
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
      last_duration_ms double precision,
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

  // A ping needs no credential except its URL. A row is found by a keyed hash of the id in the URL,
  // and the id is encrypted so that it can be shown again. `lane` is a copy of the account's lane:
  // see `sessions`.
  yield* sql`
    CREATE TABLE ping_urls (
      monitor_id uuid PRIMARY KEY REFERENCES heartbeats ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      lane bigint NOT NULL DEFAULT 0,
      ping_hash text NOT NULL UNIQUE,
      sealed_ping_id text NOT NULL
    )`
  yield* sql`
    CREATE TRIGGER ping_urls_lane BEFORE INSERT ON ping_urls
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`

  // The key of a workspace, in ping URLs that name a heartbeat by its key.
  yield* sql`
    CREATE TABLE ping_keys (
      workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
      key_hash text NOT NULL UNIQUE,
      sealed_key text NOT NULL,
      created_at timestamptz NOT NULL
    )`

  // `check_at` is when to check the certificate next. While a node is checking the certificate,
  // `check_at` is the end of its lease. `seen` contains the certificates that the host presented
  // recently, each with its remaining days when the workspace was last notified about it.
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

  // Monitors of all kinds whose targets are checked regularly. `target` contains the settings of
  // the kind. `check_at` is when to check next. The start of a check moves `check_at` to the
  // earliest start of the next check, usually the next regular time, so that an ordinary result
  // updates no index. `recorded_at` is when a check was last written to the events.
  yield* sql`
    CREATE TABLE checked_monitors (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      version integer NOT NULL DEFAULT 1,
      interval_seconds integer NOT NULL,
      timeout_seconds integer NOT NULL,
      confirm_after smallint NOT NULL,
      recover_after smallint NOT NULL,
      places jsonb,
      down_when text NOT NULL DEFAULT 'majority' CHECK (down_when IN ('any', 'majority', 'all')),
      target jsonb NOT NULL,
      secret_names text[],
      check_at timestamptz,
      failures smallint NOT NULL DEFAULT 0,
      successes smallint NOT NULL DEFAULT 0,
      last_check jsonb,
      recorded_at timestamptz
    ) WITH (
      fillfactor = 70,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_cost_delay = 0
    )`
  yield* sql`
    CREATE INDEX checked_monitors_by_check ON checked_monitors (check_at)
    WHERE check_at IS NOT NULL`
  yield* sql`
    CREATE INDEX checked_monitors_by_secrets ON checked_monitors (workspace_id)
    WHERE secret_names IS NOT NULL`

  // The latest result of a monitor from each place, and the place's open probe, if there is one:
  // the worker `worker_id` must make the probe before `ends_at`, and has received it if `is_given`
  // is true. `round` is the version of the monitor when the check began, so a result of an earlier
  // check finds no row.
  yield* sql`
    CREATE TABLE monitor_places (
      monitor_id uuid NOT NULL REFERENCES checked_monitors ON DELETE CASCADE,
      place smallint NOT NULL,
      workspace_id uuid NOT NULL,
      labels jsonb NOT NULL,
      round integer NOT NULL,
      worker_id uuid,
      is_open boolean NOT NULL,
      is_given boolean NOT NULL DEFAULT false,
      ends_at timestamptz NOT NULL,
      unreached boolean NOT NULL DEFAULT false,
      status text NOT NULL CHECK (status IN ('up', 'down', 'unknown')),
      reason text,
      checked_at timestamptz,
      last_check jsonb,
      PRIMARY KEY (monitor_id, place)
    ) WITH (fillfactor = 70)`
  yield* sql`
    CREATE INDEX monitor_places_open ON monitor_places (worker_id)
    WHERE is_open AND NOT is_given`

  // A process monitor watches one worker, or all workers with these labels. `check_at` is the
  // latest time at which its status is computed. Reports from before `since` are ignored. `failing`
  // is for workers that are checked together.
  yield* sql`
    CREATE TABLE process_monitors (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      version integer NOT NULL DEFAULT 1,
      worker_id uuid REFERENCES workers ON DELETE CASCADE,
      labels text[],
      judge text NOT NULL CHECK (judge IN ('each', 'together')),
      match jsonb NOT NULL,
      min_count integer NOT NULL,
      max_count integer,
      max_rss_bytes double precision,
      max_cpu_percent double precision,
      interval_seconds integer NOT NULL,
      grace_seconds integer NOT NULL,
      since timestamptz NOT NULL,
      failing_since timestamptz,
      failing jsonb,
      check_at timestamptz,
      CHECK ((worker_id IS NULL) <> (labels IS NULL))
    ) WITH (fillfactor = 80)`
  yield* sql`
    CREATE INDEX process_monitors_by_worker ON process_monitors (worker_id)`
  yield* sql`
    CREATE INDEX process_monitors_by_check ON process_monitors (check_at)
    WHERE check_at IS NOT NULL`
  yield* sql`
    CREATE INDEX process_monitors_by_labels ON process_monitors (workspace_id)
    WHERE labels IS NOT NULL`

  // The last report of each worker, and since when the worker itself has violated a rule.
  yield* sql`
    CREATE TABLE process_reports (
      monitor_id uuid NOT NULL REFERENCES process_monitors ON DELETE CASCADE,
      worker_id uuid NOT NULL REFERENCES workers ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      reported_at timestamptz NOT NULL,
      report jsonb NOT NULL,
      failing_since timestamptz,
      failing jsonb,
      PRIMARY KEY (monitor_id, worker_id)
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX process_reports_by_worker ON process_reports (worker_id)`

  // Pings, reports, checks and changes of status, with a partition per day like `executions`.
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

  // The checks of monitors and the times that they were down or not watched, added up in buckets of
  // `seconds` length.
  yield* sql`
    CREATE TABLE uptime_buckets (
      monitor_id uuid NOT NULL,
      workspace_id uuid NOT NULL,
      seconds integer NOT NULL,
      starts_at timestamptz NOT NULL,
      checks integer NOT NULL DEFAULT 0,
      failed_checks integer NOT NULL DEFAULT 0,
      down_ms double precision NOT NULL DEFAULT 0,
      unwatched_ms double precision NOT NULL DEFAULT 0,
      latencies integer[],
      PRIMARY KEY (monitor_id, seconds, starts_at)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX uptime_buckets_by_time ON uptime_buckets (seconds, starts_at)`

  // Deleted monitors whose events still have to be deleted. A trigger writes them, because monitors
  // are also deleted with their workspace, by cascade.
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
  yield* sql`
    CREATE TRIGGER monitors_versions_removed AFTER DELETE ON monitors
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION remove_definition_versions()`
})
