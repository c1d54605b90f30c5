import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"

/** The lifetime of a node that a test kills after a number of statements. */
export interface NodeLife {
  statementsLeft: number
  isKilled: boolean
  /** The number of commits, including individual statements that change something. */
  commits: number
}

/**
 * Creates a database client for a node that can be killed between any two statements. A killed node
 * sends no further statements. Its open transactions are rolled back, as PostgreSQL does when a
 * connection ends.
 */
export const makeKillableSql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const life: NodeLife = {
    statementsLeft: Number.POSITIVE_INFINITY,
    isKilled: false,
    commits: 0
  }
  const client = yield* SqlClient.make({
    acquirer: Effect.map(sql.reserve, (connection) => killableConnection(connection, life)),
    compiler: PgClient.makeCompiler(undefined, false),
    driver: "pg",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: []
  }).pipe(Effect.provide(Reactivity.layer))
  return { life, sql: client }
})

// ---------------------------------------------------------------------------

const killableConnection = (
  connection: SqlConnection.Connection,
  life: NodeLife
): SqlConnection.Connection => {
  let isInTransaction = false

  const count = (text: string) => {
    if (text === "BEGIN") isInTransaction = true
    if (text === "COMMIT") isInTransaction = false
    if (!isInTransaction && !/^\s*SELECT/.test(text)) life.commits++
  }

  const run = <A>(text: string, statement: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.suspend(() => {
      if (text.startsWith("ROLLBACK")) return statement
      if (life.statementsLeft > 0) {
        life.statementsLeft--
        return Effect.tap(statement, () => Effect.sync(() => count(text)))
      }
      life.isKilled = true
      return text === "COMMIT"
        ? Effect.andThen(connection.executeRaw("ROLLBACK", []), killed)
        : killed
    })

  return {
    execute: (text, params, transform) => run(text, connection.execute(text, params, transform)),
    executeRaw: (text, params) => run(text, connection.executeRaw(text, params)),
    executeStream: connection.executeStream,
    executeValues: (text, params) => run(text, connection.executeValues(text, params)),
    executeValuesUnprepared: (text, params) =>
      run(text, connection.executeValuesUnprepared(text, params)),
    executeUnprepared: (text, params, transform) =>
      run(text, connection.executeUnprepared(text, params, transform))
  }
}

const killed = Effect.die(new Error("The node was killed."))
