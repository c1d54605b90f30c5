import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // When it is checked whether a run of the task has succeeded since, without anybody noticing.
  yield* sql`
    ALTER TABLE troubles
    ADD COLUMN check_at timestamptz`
  yield* sql`
    CREATE INDEX troubles_to_check ON troubles (check_at)
    WHERE check_at IS NOT NULL`
})
