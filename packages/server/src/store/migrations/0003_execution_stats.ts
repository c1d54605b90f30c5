import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The time in the first 48 bits of a UUID v7: when the run of an execution was due.
  yield* sql`
    CREATE FUNCTION time_of_id(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(
      ('x' || replace(left(id::text, 13), '-', ''))::bit(48)::bigint::float8 / 1000
    )`

  // The order in which executions are recorded. Statistics take them in by this order and not by a
  // time, because a clock may be set back and two executions may have the same time.
  yield* sql`CREATE SEQUENCE execution_ordinals`
  yield* sql`
    ALTER TABLE executions
    ADD COLUMN ordinal bigint NOT NULL DEFAULT nextval('execution_ordinals')`
  // On disk, rows are nearly in the order of their ordinals, so one entry per megabyte is enough to
  // find the newest. An entry per row would cost as much as the other indexes do.
  yield* sql`CREATE INDEX executions_by_ordinal ON executions USING brin (ordinal)`

  // An execution is `stray` if the time in its id is not the one at which it was due: its fire was
  // missed, or the clock of its node was wrong. Queries for a range of times look for these
  // separately. See `idRange.ts`.
  yield* sql`
    ALTER TABLE executions
    ADD COLUMN stray boolean NOT NULL
    GENERATED ALWAYS AS (
      time_of_id(id) - scheduled_for NOT BETWEEN interval '-5 minutes' AND interval '5 minutes'
    ) STORED`
  yield* sql`
    CREATE INDEX executions_stray ON executions (workspace_id, scheduled_for)
    WHERE stray`

  yield* sql`CREATE INDEX executions_by_kind ON executions (workspace_id, kind, id DESC)`
  // The first step of a chain run has the run's own id.
  yield* sql`
    CREATE INDEX executions_chain_runs ON executions (task_id, id DESC)
    WHERE id = chain_run_id`

  // Executions that have ended, counted per hour of scheduled_for and per task. Rows without
  // task_id count all tasks together. The arrays are histograms: the buckets that are not empty,
  // and their counts. Rows grow while their hour lasts, and their pages have space for that.
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

  // Executions up to this ordinal are in execution_stats, all others are not.
  yield* sql`CREATE TABLE execution_stats_progress (rolled_up_to bigint NOT NULL)`
  yield* sql`INSERT INTO execution_stats_progress (rolled_up_to) VALUES (0)`
})
