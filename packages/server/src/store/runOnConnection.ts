import type { PgConnection } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"

/**
 * Runs a statement on exactly this connection. The driver's client cannot run a statement on a
 * connection that listens: it would wait until the listening ends.
 */
export const runOnConnection =
  (connection: PgConnection.PgConnection) =>
  <A>(statement: Statement.Statement<A>): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> => {
    const [text, parameters] = statement.compile()
    return connection.query(text, parameters).pipe(
      Effect.map(({ rows }) => rows as ReadonlyArray<unknown> as ReadonlyArray<A>),
      Effect.withSpan("sql.execute", { kind: "client", attributes: { "db.query.text": text } })
    )
  }
