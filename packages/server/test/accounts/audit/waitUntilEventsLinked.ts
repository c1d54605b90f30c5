import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { waitUntilNothingIsLeft } from "../../support/waitUntilNothingIsLeft.ts"

/** Waits until a node's loop has linked all events. */
export const waitUntilEventsLinked = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  waitUntilNothingIsLeft(sql`SELECT id FROM audit_events WHERE ordinal IS NULL`, "5 seconds")
)
