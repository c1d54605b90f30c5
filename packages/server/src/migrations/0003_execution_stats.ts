import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The 48 bits of a UUID v7 that are milliseconds: when the run of an execution was due.
  yield* sql`
    CREATE FUNCTION time_of_id(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(
      ('x' || replace(left(id::text, 13), '-', ''))::bit(48)::bigint::float8 / 1000
    )`

  // An execution that is recorded an hour or more after its id's time is `late`, whatever kept it:
  // retries, a queue, a missed fire. All others of an hour of ids are there an hour after it.
  yield* sql`ALTER TABLE executions ADD COLUMN recorded_at timestamptz NOT NULL DEFAULT now()`
  yield* sql`
    ALTER TABLE executions
    ADD COLUMN late boolean NOT NULL
    GENERATED ALWAYS AS (recorded_at - time_of_id(id) >= interval '1 hour') STORED`
  yield* sql`
    CREATE INDEX executions_late ON executions (workspace_id, scheduled_for)
    WHERE late`

  yield* sql`CREATE INDEX executions_by_kind ON executions (workspace_id, kind, id DESC)`
  // The first step of a chain run has the run's id.
  yield* sql`
    CREATE INDEX executions_chain_runs ON executions (task_id, id DESC)
    WHERE id = chain_run_id`

  // What ended, by the hour of scheduled_for and by task and, where task_id is null, in all.
  // id_hour is the hour of the ids that a row is made of: those before rolled_up_to, but for
  // the late ones. The arrays are histograms: which buckets of times hold something, and how much.
  yield* sql`
    CREATE TABLE execution_stats (
      workspace_id uuid NOT NULL,
      task_id uuid,
      hour timestamptz NOT NULL,
      id_hour timestamptz NOT NULL,
      succeeded integer NOT NULL,
      failed integer NOT NULL,
      cancelled integer NOT NULL,
      skipped integer NOT NULL,
      durations smallint[] NOT NULL,
      duration_counts integer[] NOT NULL,
      latenesses smallint[] NOT NULL,
      lateness_counts integer[] NOT NULL
    )`
  yield* sql`
    CREATE INDEX execution_stats_by_task ON execution_stats (workspace_id, task_id, hour)`
  yield* sql`CREATE INDEX execution_stats_by_hour ON execution_stats USING brin (hour)`

  yield* sql`CREATE TABLE execution_stats_progress (rolled_up_to timestamptz NOT NULL)`
  yield* sql`INSERT INTO execution_stats_progress (rolled_up_to) VALUES ('epoch')`
})
