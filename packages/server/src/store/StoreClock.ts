import { Context, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * Reads the database clock, which all nodes share. Every node makes the same decision by it, even
 * if the clocks of the machines are wrong. Tests replace this reference.
 */
export const StoreClock = Context.Reference<
  (sql: SqlClient.SqlClient) => Effect.Effect<Date, SqlError.SqlError>
>("@scheduling/server/store/StoreClock", { defaultValue: () => readDatabaseTime })

export const readDatabaseTime = (
  sql: SqlClient.SqlClient
): Effect.Effect<Date, SqlError.SqlError> =>
  Effect.flatMap(sql<{ readonly now: Date }>`SELECT clock_timestamp() AS now`, ([row]) =>
    row === undefined ? Effect.die(new Error("SELECT returned no row")) : Effect.succeed(row.now)
  )
