import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tables about the store itself. */
export const store = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A single row. `check_value` is derived from APP_SECRET, so that a node with another secret
  // detects the mismatch.
  yield* sql`
    CREATE TABLE app_secret (
      is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
      check_value text NOT NULL
    )`
})
