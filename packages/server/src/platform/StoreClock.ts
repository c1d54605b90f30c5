import { Context, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * The clock that all nodes share: the database's, read when the statement runs. What is decided by
 * it comes out the same through every node, however wrong the clocks of their machines are. Tests
 * answer in its place.
 */
export const StoreClock = Context.Reference<
  (sql: SqlClient.SqlClient) => Effect.Effect<Date, SqlError.SqlError>
>("@scheduling/server/platform/StoreClock", {
  defaultValue: () => (sql) =>
    Effect.flatMap(sql<{ readonly now: Date }>`SELECT clock_timestamp() AS now`, ([row]) =>
      row === undefined ? Effect.die(new Error("SELECT returned no row")) : Effect.succeed(row.now)
    )
})
