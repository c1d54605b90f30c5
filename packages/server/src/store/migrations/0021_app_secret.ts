import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Which APP_SECRET the nodes use: a value derived from it, in the only row.
  yield* sql`
    CREATE TABLE app_secret (
      is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
      check_value text NOT NULL
    )`
})
