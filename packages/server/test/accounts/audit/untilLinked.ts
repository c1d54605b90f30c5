import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { eventually } from "../../engine/runner/support/tasks.ts"

/** Waits until the loop of a node has linked all events. */
export const untilLinked = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.withLive(
    eventually(sql`SELECT id FROM audit_events WHERE ordinal IS NULL`, (rows) => rows.length === 0)
  )
})
