import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Workers and the tokens of their agents. */
export const workers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `node_id` is the session of the running agent, a row of `nodes`. The agent's last report about
  // itself is kept when the agent disconnects. `missed_at` is when the workspace is to be notified
  // that the agent is offline, and `is_missed` whether it was notified.
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

  // The current token and, for a while after a rotation, the previous one.
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
