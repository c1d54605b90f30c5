import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // When the run of a delayed task ended, which may be long after it was due.
  yield* sql`
    ALTER TABLE tasks
    ADD COLUMN ended_at timestamptz`
})
