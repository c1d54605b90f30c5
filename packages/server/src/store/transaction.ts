import { Cause, Effect, Option } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/**
 * Makes all of a change or none of it. A transaction that cannot begin or commit is a defect: 503
 * or 500.
 *
 * Rows are locked in one order everywhere, so that transactions do not wait for each other in a
 * circle: users, workspaces, workers, queues, tasks, runs; the rows of the kinds of monitors,
 * monitors, the outbox, problems, channels, deliveries; within a table by id. A transaction that
 * locks many rows of a queue skips those that are locked (`SKIP LOCKED`) and comes back for them. If
 * two transactions collide all the same, PostgreSQL ends one of them, and that one begins again.
 */
export const transactionOf =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(change: Effect.Effect<A, E, R>) => {
    const whole = sql.withTransaction(change).pipe(Effect.catchTag("SqlError", Effect.die))
    return Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
      Option.isSome(outer) ? whole : againAfterCollision(whole)
    )
  }

/** Within a transaction, a failure of this work undoes only this work, and the rest can go on. */
export const undoneAlone =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
      Option.isSome(outer) ? sql.withTransaction(work) : work
    )

/** Must not be used within a transaction, which has to start again as a whole. */
export const againAfterCollision = <A, E, R>(
  work: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.sandbox(work).pipe(
    Effect.retry({ times: 2, while: (cause) => isCollision(Cause.squash(cause)) }),
    Effect.catch(Effect.failCause)
  )

/** A deadlock, or a conflict of a serializable transaction. */
const isCollision = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")
