import { Cause, Effect, Option } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/**
 * All of a change or none of it. That a transaction cannot begin or commit is a defect: 503 or 500.
 *
 * Rows are locked in one order everywhere, so that nobody waits in a circle: users, workspaces, tasks,
 * runs; of one table by id. Whoever takes many rows of a queue leaves out those that are locked
 * (`SKIP LOCKED`) and comes back for them. Where two collide all the same, PostgreSQL ends one, and
 * that one begins again.
 */
export const transactionOf =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(change: Effect.Effect<A, E, R>) => {
    const whole = sql.withTransaction(change).pipe(Effect.catchTag("SqlError", Effect.die))
    return Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
      Option.isSome(outer) ? whole : againAfterCollision(whole)
    )
  }

/** Not within a transaction: it has to begin again as a whole. */
export const againAfterCollision = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.sandbox(work).pipe(
    Effect.retry({ times: 2, while: (cause) => isCollision(Cause.squash(cause)) }),
    Effect.catch(Effect.failCause)
  )

/** A deadlock, or a change of what a serializable transaction has read. */
const isCollision = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")
