import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // When the service was away: no node looked after the others. The one without an end is still to
  // come: it begins whenever a node was there last.
  yield* sql`
    CREATE TABLE absences (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      began_at timestamptz NOT NULL,
      ended_at timestamptz
    ) WITH (fillfactor = 50)`
  yield* sql`
    CREATE UNIQUE INDEX absences_to_come ON absences ((true))
    WHERE ended_at IS NULL`
  yield* sql`
    CREATE INDEX absences_by_end ON absences (ended_at)
    WHERE ended_at IS NOT NULL`
})
