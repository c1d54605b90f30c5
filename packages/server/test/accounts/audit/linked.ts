import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { eventually } from "../../engine/runner/support/tasks.ts"

/** Once the loop of a node has linked all there is. */
export const linked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.withLive(
    eventually(sql`SELECT id FROM audit_events WHERE ordinal IS NULL`, (rows) => rows.length === 0)
  )
})
