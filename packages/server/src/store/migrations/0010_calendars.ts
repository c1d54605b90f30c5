import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Calendars whose days schedules exclude, once for each workspace. Tasks name them by their URL, in
  // `firing_options`. The days are those of the last good copy. `is_applied` is false until the tasks
  // know of days that changed. `used_at` is when a task was last saved with it, so that nobody
  // removes it as unused meanwhile.
  yield* sql`
    CREATE TABLE calendars (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      url text NOT NULL,
      days jsonb NOT NULL,
      fetched_at timestamptz NOT NULL,
      error text,
      failures integer NOT NULL DEFAULT 0,
      is_applied boolean NOT NULL DEFAULT true,
      version integer NOT NULL DEFAULT 1,
      check_at timestamptz NOT NULL,
      used_at timestamptz NOT NULL,
      UNIQUE (workspace_id, url)
    )`
  yield* sql`CREATE INDEX calendars_by_check ON calendars (check_at)`
})
