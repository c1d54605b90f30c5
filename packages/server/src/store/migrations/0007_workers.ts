import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `node_id` is the session of the agent that runs now, as a row of `nodes`. What the agent last
  // said of itself stays when it is gone. `missed_at` is the time at which people are told that the
  // agent is gone, and `is_missed` says that they were.
  yield* sql`
    CREATE TABLE workers (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name text NOT NULL,
      labels text[] NOT NULL,
      paused boolean NOT NULL DEFAULT false,
      node_id integer,
      offered_labels text[],
      seen_at timestamptz,
      version text,
      host text,
      slots integer,
      missed_at timestamptz,
      is_missed boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    ) WITH (fillfactor = 90)`
  yield* sql`CREATE INDEX workers_by_workspace ON workers (workspace_id, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX workers_by_node ON workers (node_id)
    WHERE node_id IS NOT NULL`
  yield* sql`
    CREATE INDEX workers_missed ON workers (missed_at)
    WHERE missed_at IS NOT NULL`

  // It watches one worker, or all with these labels. `check_at` is when it is judged at the latest.
  // Reports from before `since` count for nothing. `failing` is for those that are judged together.
  yield* sql`
    CREATE TABLE process_monitors (
      monitor_id uuid PRIMARY KEY REFERENCES monitors ON DELETE CASCADE,
      workspace_id uuid NOT NULL,
      worker_id uuid REFERENCES workers ON DELETE CASCADE,
      labels text[],
      judge text NOT NULL CHECK (judge IN ('each', 'together')),
      match jsonb NOT NULL,
      min_count integer NOT NULL,
      max_count integer,
      max_rss_bytes bigint,
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

  // What each worker reported last, and since when it breaks a rule by itself.
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

  // The token in use, and for a while the one before it.
  yield* sql`
    CREATE TABLE worker_tokens (
      token_hash text PRIMARY KEY,
      worker_id uuid NOT NULL REFERENCES workers ON DELETE CASCADE,
      token_prefix text NOT NULL,
      expires_at timestamptz,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX worker_tokens_by_worker ON worker_tokens (worker_id, created_at DESC)`
})
