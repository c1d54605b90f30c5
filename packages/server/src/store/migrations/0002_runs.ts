import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The steps of chains. They never change: a chain whose steps change gets a new version, and runs
  // keep the version that they started with. So a run of a chain with a megabyte of steps costs as
  // much as any other. `replaced_at` is set once the chain has a newer version or is gone.
  yield* sql`
    CREATE TABLE chain_versions (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      chain_id uuid NOT NULL,
      replaced_at timestamptz
    )`
  yield* sql`CREATE INDEX chain_versions_by_chain ON chain_versions (workspace_id, chain_id)`
  yield* sql`
    CREATE INDEX chain_versions_replaced ON chain_versions (id)
    WHERE replaced_at IS NOT NULL`
  // `uses` are the earlier steps whose answers the call uses. `weight` is the most bytes that the
  // call takes with them filled in. `call_options` are those that few calls have: what counts as a
  // success, and how long to wait before the next attempt.
  yield* sql`
    CREATE TABLE chain_steps (
      version_id uuid NOT NULL REFERENCES chain_versions ON DELETE CASCADE,
      step_index smallint NOT NULL,
      name text NOT NULL,
      run_if text NOT NULL,
      method text NOT NULL,
      url text NOT NULL,
      headers jsonb NOT NULL,
      body text,
      timeout_seconds integer NOT NULL,
      retry_count integer NOT NULL,
      call_options jsonb,
      run_on jsonb,
      worker_wait_seconds integer NOT NULL DEFAULT 300,
      uses smallint[] NOT NULL,
      weight integer NOT NULL,
      PRIMARY KEY (version_id, step_index)
    )`

  // What the user defined, in one table for the three kinds. A cron or delayed task has the columns
  // of a call, a chain has a version of its steps. `next_fire_at` is null while the task is paused
  // or without a schedule. `fired_until` is the last slot that has fired: no change to the task
  // lets it fire again. `run_on` of a chain is that of its first step. `firing_options` are those
  // that few schedules have, and `ending_options` who is told that a run has ended. `bytes` limits the
  // pages of lists, as a hundred chains may have a hundred megabytes, and the calls in memory.
  yield* sql`
    CREATE TABLE tasks (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('cron', 'delayed', 'chain')),
      key text,
      name text,
      status text NOT NULL CHECK (
        CASE kind
          WHEN 'delayed' THEN status IN ('pending', 'finished', 'cancelled')
          ELSE status IN ('active', 'paused')
        END
      ),
      method text,
      url text,
      headers jsonb,
      body text,
      timeout_seconds integer,
      retry_count integer,
      call_options jsonb,
      run_on jsonb,
      worker_wait_seconds integer NOT NULL DEFAULT 300,
      version_id uuid REFERENCES chain_versions,
      steps_bytes integer,
      bytes integer NOT NULL GENERATED ALWAYS AS (
        coalesce(octet_length(body), 0) + coalesce(octet_length(headers::text), 0)
          + coalesce(octet_length(call_options::text), 0)
          + coalesce(octet_length(firing_options::text), 0)
          + coalesce(octet_length(ending_options::text), 0) + coalesce(steps_bytes, 0)
      ) STORED,
      schedule text,
      timezone text,
      overlap text CHECK (overlap IN ('allow', 'skip', 'queue')),
      missed text CHECK (missed IN ('skip', 'once')),
      dst_overlap text CHECK (dst_overlap IN ('first', 'both')),
      firing_options jsonb,
      ending_options jsonb,
      paused_reason text,
      next_fire_at timestamptz,
      fired_until timestamptz,
      lane bigint NOT NULL,
      run_at timestamptz,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CHECK (CASE kind WHEN 'chain' THEN version_id IS NOT NULL ELSE url IS NOT NULL END),
      CHECK (next_fire_at IS NULL OR (status = 'active' AND schedule IS NOT NULL)),
      CHECK ((kind = 'delayed') = (run_at IS NOT NULL))
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX tasks_by_workspace ON tasks (workspace_id, kind, id DESC)`
  yield* sql`
    CREATE UNIQUE INDEX tasks_by_key ON tasks (workspace_id, kind, key)
    WHERE key IS NOT NULL`
  yield* sql`
    CREATE INDEX tasks_by_version ON tasks (version_id)
    WHERE version_id IS NOT NULL`
  // Only delayed tasks that are still to come, which are few among all there have ever been.
  yield* sql`CREATE INDEX tasks_pending ON tasks (workspace_id, id DESC) WHERE status = 'pending'`
  // What a workspace runs next, of all kinds.
  yield* sql`
    CREATE INDEX tasks_upcoming ON tasks (workspace_id, coalesce(next_fire_at, run_at))
    WHERE next_fire_at IS NOT NULL OR status = 'pending'`
  // The lane lets a statement hop from lane to lane among the thousands of tasks of one minute.
  yield* sql`
    CREATE INDEX tasks_by_next_fire ON tasks (next_fire_at, lane)
    WHERE next_fire_at IS NOT NULL`
  // A trigger, because tasks are inserted in many places and a wrong lane would go unnoticed.
  yield* sql`
    CREATE FUNCTION lane_of_workspace() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
      NEW.lane := coalesce((SELECT lane FROM workspaces WHERE id = NEW.workspace_id), 0);
      RETURN NEW;
    END
    $$`
  yield* sql`
    CREATE TRIGGER tasks_lane BEFORE INSERT ON tasks
    FOR EACH ROW EXECUTE FUNCTION lane_of_workspace()`

  // Only runs that have not ended, so that the table stays small and hot however long the history
  // is. It has no foreign keys: each would lock a row per run, and the start guard checks the task
  // anyway. No index contains the columns that change when a run starts, so that the update stays
  // in its page. Of two runs of a task, the one that was queued first has the lower `ordinal`. The
  // steps of a chain's run share one.
  yield* sql`
    CREATE TABLE runs (
      workspace_id uuid NOT NULL,
      id uuid NOT NULL,
      task_id uuid NOT NULL,
      kind text NOT NULL,
      trigger text NOT NULL,
      lane bigint NOT NULL DEFAULT 0,
      chain_run_id uuid,
      step_index smallint,
      step text,
      version_id uuid,
      after_failure boolean,
      slot_at timestamptz,
      scheduled_for timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running')),
      waiting boolean NOT NULL DEFAULT false,
      cancel_requested boolean NOT NULL DEFAULT false,
      attempt integer NOT NULL DEFAULT 1,
      lost integer NOT NULL DEFAULT 0,
      lease_owner integer,
      started_at timestamptz,
      attempt_started_at timestamptz,
      status_code integer,
      error text,
      run_on jsonb,
      worker_wait_seconds integer,
      ordinal bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
      PRIMARY KEY (workspace_id, id),
      UNIQUE (task_id, slot_at)
    ) WITH (
      fillfactor = 60,
      autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_threshold = 2000,
      autovacuum_vacuum_cost_delay = 0,
      autovacuum_analyze_scale_factor = 0,
      autovacuum_analyze_threshold = 5000
    )`
  // By second and then by lane. A search for work hops over the backlog of a lane, however long, in
  // one step per second of it. Equal keys share their space, so this index is smaller than one by
  // due_at.
  yield* sql`
    CREATE INDEX runs_by_due ON runs (date_bin('1 second', due_at, timestamptz 'epoch'), lane)
    WHERE lease_owner IS NULL AND NOT waiting AND run_on IS NULL`
  // Runs for workers have indexes of their own, so that the service's search for work never meets
  // them, however many wait for a worker that is offline. By worker, by time, and by when it is too
  // late.
  yield* sql`
    CREATE INDEX runs_for_workers ON runs
      (workspace_id, run_on, date_bin('1 second', due_at, timestamptz 'epoch'))
    WHERE lease_owner IS NULL AND NOT waiting AND run_on IS NOT NULL`
  yield* sql`
    CREATE INDEX runs_for_workers_by_due ON runs (due_at)
    WHERE lease_owner IS NULL AND NOT waiting AND run_on IS NOT NULL`
  // Adding seconds gives the same time in every time zone, which PostgreSQL cannot know.
  yield* sql`
    CREATE FUNCTION seconds_after(since timestamptz, seconds integer) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT since + seconds * interval '1 second' $$`
  yield* sql`
    CREATE INDEX runs_unclaimed ON runs (seconds_after(due_at, worker_wait_seconds))
    WHERE lease_owner IS NULL AND NOT waiting AND run_on IS NOT NULL`
  yield* sql`
    CREATE INDEX runs_by_owner ON runs (lease_owner)
    WHERE lease_owner IS NOT NULL`
  yield* sql`CREATE INDEX runs_to_cancel ON runs (lease_owner) WHERE cancel_requested`
  yield* sql`CREATE INDEX runs_waiting ON runs (task_id, id) WHERE waiting`
  yield* sql`
    CREATE INDEX runs_by_chain_run ON runs (chain_run_id)
    WHERE chain_run_id IS NOT NULL`

  // Tasks that were paused or deleted, and workspaces that were deleted. No run up to this ordinal
  // starts any more. A row stays until those runs are cleared away.
  yield* sql`
    CREATE TABLE stops (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL,
      up_to bigint NOT NULL DEFAULT nextval('runs_ordinal_seq')
    )`

  // History, one partition per day. The ids contain the time that a run was due, so a day is a
  // range of ids. A look-up by id reads one partition, and a page of the newest reads the
  // partitions in turn. The last attempt is in the row of its execution, if somebody saw it end:
  // most executions have no other, and a row of its own cost a third of what a result costs.
  yield* sql`
    CREATE TABLE executions (
      id uuid NOT NULL,
      workspace_id uuid NOT NULL,
      task_id uuid NOT NULL,
      kind text NOT NULL,
      trigger text NOT NULL,
      chain_run_id uuid,
      step_index smallint,
      step text,
      status text NOT NULL CHECK (status IN ('succeeded', 'failed', 'cancelled', 'skipped')),
      scheduled_for timestamptz NOT NULL,
      started_at timestamptz,
      finished_at timestamptz NOT NULL,
      lateness_ms bigint,
      duration_ms bigint,
      attempts_count integer NOT NULL,
      attempt_started_at timestamptz,
      status_code integer,
      response_body text,
      error text,
      PRIMARY KEY (workspace_id, id)
    ) PARTITION BY RANGE (id)`
  yield* sql`CREATE INDEX executions_by_task ON executions (workspace_id, task_id, id DESC)`
  yield* sql`
    CREATE INDEX executions_unsuccessful ON executions (workspace_id, status, id DESC)
    WHERE status <> 'succeeded'`
  yield* sql`
    CREATE INDEX executions_by_chain_run ON executions (chain_run_id)
    WHERE chain_run_id IS NOT NULL`

  yield* sql`
    CREATE TABLE earlier_attempts (
      execution_id uuid NOT NULL,
      number integer NOT NULL,
      workspace_id uuid NOT NULL,
      started_at timestamptz NOT NULL,
      finished_at timestamptz,
      status_code integer,
      response_body text,
      error text,
      PRIMARY KEY (execution_id, number)
    ) PARTITION BY RANGE (execution_id)`

  // Holds ids whose day has no partition yet, above all executions that were cancelled long before
  // they were due. Their rows move out when the day is made, so that nothing collects here.
  yield* sql`
    CREATE TABLE executions_ahead PARTITION OF executions
    FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`
  yield* sql`
    CREATE TABLE earlier_attempts_ahead PARTITION OF earlier_attempts
    FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`
  yield* sql`
    CREATE VIEW attempts AS
    SELECT
      execution_id, number, workspace_id, started_at, finished_at, status_code, response_body, error
    FROM earlier_attempts
    UNION ALL
    SELECT
      id, attempts_count, workspace_id, attempt_started_at, finished_at, status_code,
      response_body, error
    FROM executions
    WHERE attempt_started_at IS NOT NULL`

  // Workspaces whose history still has to be deleted.
  yield* sql`CREATE TABLE removed_workspaces (id uuid PRIMARY KEY)`

  // A node is alive while its session holds the advisory lock of its id. Where there are no session
  // locks, it is alive until `lease_until`. The row of a dead node stays for a day, so that
  // whatever a frozen process still leases in its name is found and taken back. The session of a
  // worker's agent is a row too, so that its leases are like those of a node.
  yield* sql`
    CREATE TABLE nodes (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      holds_lock boolean NOT NULL,
      worker_id uuid,
      lease_until timestamptz NOT NULL,
      suspected_at timestamptz,
      died_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50)`
})
