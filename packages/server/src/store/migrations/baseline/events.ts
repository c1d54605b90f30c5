import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Events on their way to notifications and callbacks. */
export const events = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Events that are not routed yet. An event is written in the transaction of the change that it is
  // about. There are no foreign keys: a workspace that is deleted meanwhile must not fail the
  // statement that settles the runs of all workspaces.
  yield* sql`
    CREATE TABLE outbox (
      ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL,
      event text NOT NULL,
      subject_id uuid NOT NULL,
      tags text[] NOT NULL DEFAULT '{}',
      at timestamptz NOT NULL,
      data jsonb NOT NULL DEFAULT '{}'
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`
  yield* sql`CREATE INDEX outbox_by_subject ON outbox (subject_id)`

  // Finished runs of tasks with a callback, written as the runs are settled and moved to the
  // deliveries at once. They are apart from the outbox, so that alerts do not wait behind them.
  yield* sql`
    CREATE TABLE callback_outbox (
      ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL,
      task_id uuid NOT NULL,
      url text NOT NULL,
      event text NOT NULL,
      at timestamptz NOT NULL,
      data jsonb NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`
})
