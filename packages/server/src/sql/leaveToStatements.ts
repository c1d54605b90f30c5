import { Effect, Option, Semaphore } from "effect"
import type { SqlClient } from "effect/sql"
import type { PoolUse } from "./PoolUse.ts"

/**
 * Lets transactions have all connections of a pool but one, which single statements share. A
 * transaction keeps its connection for as long as the node takes to send one statement after the
 * other. On a busy node that is 0.2 s, and whoever only reads waited for one to end.
 */
export const leaveToStatements = <Client extends SqlClient.SqlClient>(
  sql: Client,
  use: PoolUse
): Client => {
  const transactions = Semaphore.makeUnsafe(Math.max(1, use.size - 1))
  const { transactionService, withTransaction } = sql
  return Object.assign(sql, {
    withTransaction: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
        Option.isSome(outer)
          ? withTransaction(work)
          : use.transaction(transactions.withPermit, withTransaction(work))
      )
  })
}
