import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** All of a change or none of it. That a transaction cannot begin or commit is a defect: 503 or 500. */
export const transactionOf =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(change: Effect.Effect<A, E, R>) =>
    sql.withTransaction(change).pipe(Effect.catchTag("SqlError", Effect.die))
