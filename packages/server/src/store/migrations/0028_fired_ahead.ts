import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One row, once the clock of the database was set back: slots until then may have fired before that.
  yield* sql`
    CREATE TABLE fired_ahead (
      is_row boolean PRIMARY KEY DEFAULT true CHECK (is_row),
      until timestamptz NOT NULL
    )`
})
