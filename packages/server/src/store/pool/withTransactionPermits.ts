import { Effect } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import type { PoolUse } from "./PoolUse.ts"

/**
 * Gives each transaction a separate connection, and limits the number of transactions. A
 * transaction keeps its connection until its last statement, which takes 0.2 s on a busy node. On a
 * shared connection, other statements would wait that long.
 */
export const withTransactionPermits = <Client extends SqlClient.SqlClient>(
  sql: Client,
  use: PoolUse,
  transactions: Pick<SqlClient.SqlClient, "reserve"> = sql
): Client =>
  Object.assign(sql, {
    withTransaction: SqlClient.makeWithTransaction({
      transactionService: sql.transactionService,
      spanAttributes: [],
      acquireConnection: (restore) =>
        Effect.andThen(use.permit(restore), restore(transactions.reserve)),
      begin: (on, statement = "BEGIN") => control(on, statement),
      savepoint: (on, id) => control(on, `SAVEPOINT effect_sql_${id}`),
      releaseSavepoint: (on, id) => control(on, `RELEASE SAVEPOINT effect_sql_${id}`),
      commit,
      rollback: (on) => control(on, "ROLLBACK"),
      rollbackSavepoint: (on, id) => control(on, `ROLLBACK TO SAVEPOINT effect_sql_${id}`)
    })
  })

const control = (on: SqlConnection.Connection, statement: string) =>
  Effect.asVoid(on.execute(statement, [], undefined))

/**
 * Fails if PostgreSQL responds with `ROLLBACK`, as it does after a statement of the transaction has
 * failed.
 */
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
