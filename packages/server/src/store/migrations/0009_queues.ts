import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Queues that users name. They limit how many runs go on at once and how often one begins.
  // `next_at` is when the next run may begin. `held_until` are the places of calls that were lost
  // with their node: until then nobody knows whether they still go on.
  yield* sql`
    CREATE TABLE queues (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      key text,
      name text NOT NULL,
      max_concurrency integer,
      rate_per_second float8,
      paused boolean NOT NULL DEFAULT false,
      next_at timestamptz NOT NULL,
      held_until timestamptz[] NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CHECK (max_concurrency IS NOT NULL OR rate_per_second IS NOT NULL)
    ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX queues_by_workspace ON queues (workspace_id, id DESC)`

  yield* sql`
    CREATE UNIQUE INDEX queues_by_key ON queues (workspace_id, key)
    WHERE key IS NOT NULL`

  yield* sql`
    ALTER TABLE tasks
    ADD COLUMN queue_id uuid REFERENCES queues ON DELETE SET NULL`
  yield* sql`
    CREATE INDEX tasks_by_queue ON tasks (queue_id)
    WHERE queue_id IS NOT NULL`

  // A run that is `parked` is `waiting` too, so no index by which runs are claimed has it. It waits
  // for its turn in its queue; the others that wait do so for the run of their task before them.
  yield* sql`
    ALTER TABLE runs
    ADD COLUMN queue_id uuid,
    ADD COLUMN parked boolean NOT NULL DEFAULT false`
  yield* sql`DROP INDEX runs_waiting`
  yield* sql`
    CREATE INDEX runs_waiting ON runs (task_id, id)
    WHERE waiting AND NOT parked`
  yield* sql`
    CREATE INDEX runs_parked ON runs (queue_id, due_at)
    WHERE parked`
  yield* sql`
    CREATE INDEX runs_admitted ON runs (queue_id)
    WHERE queue_id IS NOT NULL AND NOT waiting`
})
