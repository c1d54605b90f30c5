import { Effect } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import type { PoolUse } from "./PoolUse.ts"

/**
 * Lets transactions have all connections of a pool but one, which single statements share. A
 * transaction keeps its connection for as long as the node takes to send one statement after the
 * other. On a busy node that is 0.2 s, and whoever only reads waited for one to end.
 *
 * If the pool has none left, a transaction has one of `more`, as far as the use allows it. Two
 * pools, because single statements would fill a larger one too.
 */
export const withTransactionTurns = <Client extends SqlClient.SqlClient>(
  sql: Client,
  use: PoolUse,
  more: Pick<SqlClient.SqlClient, "reserve"> = sql
): Client => {
  const least = use.size
  const own = use.turnsIn(least)
  let inPool = 0

  /** If others took the last connections of the server, those of the pool have to do. */
  const oneMore = Effect.catch(more.reserve, () => Effect.andThen(use.resize(least), sql.reserve))

  const connection = Effect.suspend(() => {
    if (inPool >= own) return oneMore
    const taken = Effect.sync(() => {
      inPool++
    })
    const left = Effect.sync(() => {
      inPool--
    })
    return Effect.andThen(
      Effect.acquireRelease(taken, () => left),
      sql.reserve
    )
  })

  return Object.assign(sql, {
    withTransaction: SqlClient.makeWithTransaction({
      transactionService: sql.transactionService,
      spanAttributes: [],
      acquireConnection: (restore) => Effect.andThen(use.turn(restore), restore(connection)),
      begin: (on, statement = "BEGIN") => control(on, statement),
      savepoint: (on, id) => control(on, `SAVEPOINT effect_sql_${id}`),
      releaseSavepoint: (on, id) => control(on, `RELEASE SAVEPOINT effect_sql_${id}`),
      commit,
      rollback: (on) => control(on, "ROLLBACK"),
      rollbackSavepoint: (on, id) => control(on, `ROLLBACK TO SAVEPOINT effect_sql_${id}`)
    })
  })
}

const control = (on: SqlConnection.Connection, statement: string) =>
  Effect.asVoid(on.execute(statement, [], undefined))

/** PostgreSQL answers `ROLLBACK` to the `COMMIT` of a transaction in which a statement failed. */
const commit = (on: SqlConnection.Connection) =>
  Effect.flatMap(on.executeRaw("COMMIT", []), (answer) =>
    (answer as { readonly command?: string }).command === "ROLLBACK"
      ? Effect.fail(new SqlError.SqlError({ reason: rolledBack() }))
      : Effect.void
  )

const rolledBack = () =>
  new SqlError.UnknownError({
    cause: new Error("the transaction was aborted"),
    message: "COMMIT rolled back an aborted transaction",
    operation: "commit"
  })
