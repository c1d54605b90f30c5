import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Counts the rows of a table that an effect's queries read, including the rows they discard. */
export const countRowsRead = <A, E, R>(table: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const read = sql<{ readonly rows: number }>`
      SELECT (seq_tup_read + idx_tup_fetch)::int AS rows
      FROM pg_stat_xact_user_tables
      WHERE relname = ${table}`
    const [before] = yield* read
    yield* effect
    const [after] = yield* read
    return (after?.rows ?? 0) - (before?.rows ?? 0)
  }).pipe((counted) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(counted)))
