import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A run whose task was given another queue, or none, while its call was under way. It keeps its
  // place until the attempt ends, and goes there with the next one.
  yield* sql`
    ALTER TABLE runs
    ADD COLUMN moves boolean NOT NULL DEFAULT false,
    ADD COLUMN next_queue_id uuid`
})
