import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Whether the token went out by mail, and so proves the email of whoever uses it. One that an
  // operator hands on does not.
  yield* sql`
    ALTER TABLE user_links
    ADD COLUMN mailed boolean NOT NULL DEFAULT false`
})
