import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Runs that await a call-back, and by when it must have come. Nobody holds them.
  yield* sql`
    ALTER TABLE runs
    ADD COLUMN awaiting_since timestamptz,
    ADD COLUMN completes_by timestamptz`
  yield* sql`
    CREATE INDEX runs_awaiting ON runs (completes_by)
    WHERE completes_by IS NOT NULL`

  // What jobs say while they go on: the last lines of a run, until its history is deleted.
  yield* sql`
    CREATE TABLE progress (
      execution_id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      lines jsonb NOT NULL
    )`
  yield* sql`CREATE INDEX progress_by_workspace ON progress (workspace_id)`
})
