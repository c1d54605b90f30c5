import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Replaces the database's clock functions with functions that a test can step. They are set per
 * session. On the embedded store, all statements share one session.
 */
export const steppableDatabase = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE SCHEMA stepped`
  yield* sql`CREATE TABLE stepped.ahead (by interval NOT NULL)`
  yield* sql`INSERT INTO stepped.ahead VALUES ('0')`
  for (const name of ["now", "clock_timestamp"]) {
    yield* sql`
      CREATE FUNCTION ${sql.literal(`stepped.${name}`)}() RETURNS timestamptz
      LANGUAGE sql STABLE
      RETURN ${sql.literal(`pg_catalog.${name}`)}() + (SELECT by FROM stepped.ahead)`
  }
  yield* sql`SET search_path = stepped, pg_catalog, public`
  yield* Effect.addFinalizer(() =>
    Effect.orDie(Effect.andThen(sql`RESET search_path`, sql`DROP SCHEMA stepped CASCADE`))
  )
  /** Sets how many milliseconds the clock is ahead. */
  return (aheadMs: number) =>
    sql`UPDATE stepped.ahead SET by = ${aheadMs} * interval '1 millisecond'`
})
