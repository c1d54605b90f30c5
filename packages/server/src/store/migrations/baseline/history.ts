import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finished runs and their statistics. */
export const history = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The timestamp in the first 48 bits of a UUID v7: when the run of an execution was due.
  yield* sql`
    CREATE FUNCTION time_of_id(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(
      ('x' || replace(left(id::text, 13), '-', ''))::bit(48)::bigint::float8 / 1000
    )`

  // The order in which executions are recorded. Statistics count them in this order and not by
  // time, because a clock may be set back and two executions may have the same time.
  yield* sql`CREATE SEQUENCE execution_ordinals`

  // One partition per day. The ids contain the time at which a run was due, so a day is a range of
  // ids. A search by id reads one partition, and a page of the newest reads the partitions in turn.
  // The last attempt is stored in the row of its execution, if its result is known. Most executions
  // have no other attempt, and a row for each attempt made writing a result a third more expensive.
  //
  // An execution is `stray` if the time in its id is not the one at which it was due: its slot was
  // missed, or the clock of its node was wrong. Queries for a time range look for these separately.
  // See `idRange.ts`.
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
      flow_key text,
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
      -- The node or session that made the last attempt, and its exchange: see exchangeText.ts.
      node integer,
      worker_id uuid,
      exchange text,
      ordinal bigint NOT NULL DEFAULT nextval('execution_ordinals'),
      stray boolean NOT NULL GENERATED ALWAYS AS (
        time_of_id(id) - scheduled_for NOT BETWEEN interval '-5 minutes' AND interval '5 minutes'
      ) STORED,
      -- Includes the columns of all filters, so that a filter that matches few executions reads
      -- only this index instead of a million rows.
      PRIMARY KEY (workspace_id, id)
        INCLUDE (task_id, kind, trigger, status, status_code, duration_ms, scheduled_for)
    ) PARTITION BY RANGE (id)`
  yield* sql`CREATE INDEX executions_by_task ON executions (workspace_id, task_id, id DESC)`
  yield* sql`
    CREATE INDEX executions_unsuccessful ON executions (workspace_id, status, id DESC)
    WHERE status <> 'succeeded'`
  yield* sql`
    CREATE INDEX executions_by_chain_run ON executions (chain_run_id)
    WHERE chain_run_id IS NOT NULL`
  // The first step of a chain run has the id of the chain run.
  yield* sql`
    CREATE INDEX executions_chain_runs ON executions (task_id, id DESC)
    WHERE id = chain_run_id`
  yield* sql`
    CREATE INDEX executions_stray ON executions (workspace_id, scheduled_for)
    WHERE stray`
  // On disk, rows are nearly in the order of their ordinals, so one entry per megabyte is enough to
  // find the newest rows. An index with an entry per row would cost as much as the other indexes.
  yield* sql`CREATE INDEX executions_by_ordinal ON executions USING brin (ordinal)`

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
      node integer,
      worker_id uuid,
      exchange text,
      PRIMARY KEY (execution_id, number)
    ) PARTITION BY RANGE (execution_id)`

  // These partitions contain ids whose day has no partition yet, above all executions that were
  // cancelled long before they were due. Their rows are moved when the day is created, so that the
  // partitions stay small.
  yield* sql`
    CREATE TABLE executions_ahead PARTITION OF executions
    FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`
  yield* sql`
    CREATE TABLE earlier_attempts_ahead PARTITION OF earlier_attempts
    FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`
  yield* sql`
    CREATE VIEW attempts AS
    SELECT
      execution_id, number, workspace_id, started_at, finished_at, status_code, response_body, error,
      node, worker_id, exchange
    FROM earlier_attempts
    UNION ALL
    SELECT
      id, attempts_count, workspace_id, attempt_started_at, finished_at, status_code,
      response_body, error, node, worker_id, exchange
    FROM executions
    WHERE attempt_started_at IS NOT NULL`

  // The last progress lines of a run's job, kept until the history of the run is deleted.
  yield* sql`
    CREATE TABLE progress (
      execution_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      lines jsonb NOT NULL
    )`
  yield* sql`CREATE INDEX progress_by_workspace ON progress (workspace_id)`

  // The inputs of manual runs, kept as long as progress. The id is that of the execution, or of the
  // chain run, which all steps share.
  yield* sql`
    CREATE TABLE run_inputs (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      input json NOT NULL
    )`
  yield* sql`CREATE INDEX run_inputs_by_workspace ON run_inputs (workspace_id)`

  // Deleted workspaces whose history has not been deleted yet.
  yield* sql`CREATE TABLE removed_workspaces (id uuid PRIMARY KEY)`

  // Executions, counted per task and hour of scheduled_for. Rows without task_id are totals of all
  // tasks. The arrays are histograms: the non-empty buckets and their counts. Rows grow during
  // their hour, and their pages have space for that.
  yield* sql`
    CREATE TABLE execution_stats (
      workspace_id uuid NOT NULL,
      task_id uuid,
      hour timestamptz NOT NULL,
      succeeded integer NOT NULL,
      failed integer NOT NULL,
      cancelled integer NOT NULL,
      skipped integer NOT NULL,
      durations smallint[] NOT NULL,
      duration_counts integer[] NOT NULL,
      latenesses smallint[] NOT NULL,
      lateness_counts integer[] NOT NULL,
      UNIQUE NULLS NOT DISTINCT (workspace_id, task_id, hour)
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX execution_stats_by_hour ON execution_stats (hour)`

  // Finished runs of cron tasks and chains, counted in buckets of `seconds` length. A run is in one
  // row only: the row of its five minutes, which is later added to the row of its hour and then to
  // that of its day.
  yield* sql`
    CREATE TABLE task_buckets (
      workspace_id uuid NOT NULL,
      task_id uuid NOT NULL,
      seconds integer NOT NULL,
      starts_at timestamptz NOT NULL,
      succeeded integer NOT NULL,
      failed integer NOT NULL,
      cancelled integer NOT NULL,
      skipped integer NOT NULL,
      durations smallint[] NOT NULL,
      duration_counts integer[] NOT NULL,
      PRIMARY KEY (workspace_id, task_id, starts_at, seconds)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX task_buckets_by_time ON task_buckets (seconds, starts_at)`

  // Executions up to the ordinal `rolled_up_to` are in execution_stats and task_buckets, and
  // executions up to `counted_up_to` are in usage_days. Later executions are in none of them. Plans
  // with a monthly limit need the usage within seconds. Statistics cost more to update, and can lag
  // further behind.
  yield* sql`
    CREATE TABLE execution_stats_progress (
      rolled_up_to bigint NOT NULL,
      counted_up_to bigint NOT NULL DEFAULT 0
    )`
  yield* sql`INSERT INTO execution_stats_progress (rolled_up_to) VALUES (0)`
})
