import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { advanceUntilEmpty } from "../../support/advanceUntil.ts"

/** Waits until a node's loop has linked all events. */
export const waitUntilEventsLinked = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  advanceUntilEmpty("5 seconds", sql`SELECT id FROM audit_events WHERE ordinal IS NULL`)
)
