import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The key that a rotation gave in the place of this one. It may be deleted earlier.
  yield* sql`ALTER TABLE api_keys ADD COLUMN successor_id uuid`
})
