import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Events that may lead to notifications and callbacks. */
export const events = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Events that are not routed yet. An event is written in the transaction of the change that it is
  // about. There are no foreign keys, because the deletion of a workspace must not fail the
  // statement that settles runs of all workspaces. An event with a `callback_url` is sent to that
  // URL only, regardless of the rules of the workspace.
  yield* sql`
    CREATE TABLE outbox (
      ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL,
      event text NOT NULL,
      subject_id uuid NOT NULL,
      tags text[] NOT NULL DEFAULT '{}',
      at timestamptz NOT NULL,
      data jsonb NOT NULL DEFAULT '{}',
      callback_url text
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`
  // Callbacks come last, so that no alert waits behind them.
  yield* sql`CREATE INDEX outbox_in_order ON outbox ((callback_url IS NOT NULL), ordinal)`
  // The statement that settles runs reads the alerts that are not routed yet, without callbacks.
  yield* sql`
    CREATE INDEX outbox_by_subject ON outbox (subject_id)
    WHERE callback_url IS NULL`
})
