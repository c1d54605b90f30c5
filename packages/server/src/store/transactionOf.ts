import { Cause, Effect, Option } from "effect"
import { type SqlClient, SqlError } from "effect/sql"

/**
 * Runs a change in a transaction. A transaction that cannot begin or commit is a defect, which the
 * client sees as 503 or 500.
 *
 * All transactions lock rows in the same order, to avoid deadlocks: users, workspaces, workers,
 * queues, tasks, runs; the rows of the kinds of monitors, monitors, the outbox, problems, channels,
 * deliveries. Rows of one table are locked in the order of their ids. A transaction that locks many
 * rows of a queue skips locked rows (`SKIP LOCKED`) and returns to them later. If a deadlock occurs
 * nevertheless, PostgreSQL aborts one of the transactions, which is then retried.
 */
export const transactionOf =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(change: Effect.Effect<A, E, R>) => {
    const whole = sql.withTransaction(change).pipe(Effect.catchTag("SqlError", Effect.die))
    return Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
      Option.isSome(outer) ? whole : retryAfterDeadlock(whole)
    )
  }

/**
 * Runs work in a savepoint, so that a failure undoes only this work and the transaction can
 * continue.
 */
export const runInSavepoint =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (outer) =>
      Option.isSome(outer) ? sql.withTransaction(work) : work
    )

/**
 * Runs statements of one client in the open transaction of another client. The engine needs this,
 * because its pool is a different client from the pool for requests.
 */
export const runInOpenTransactionOf =
  (open: SqlClient.SqlClient, sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.serviceOption(open.transactionService), (transaction) =>
      Option.isSome(transaction)
        ? Effect.provideService(work, sql.transactionService, transaction.value)
        : work
    )

/**
 * Retries work after a deadlock. Never use it within a transaction, because the transaction must be
 * retried as a whole.
 */
export const retryAfterDeadlock = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.sandbox(work).pipe(
    Effect.retry({ times: 2, while: (cause) => isDeadlock(Cause.squash(cause)) }),
    Effect.catch(Effect.failCause)
  )

/**
 * Returns whether the work failed because of a deadlock or a conflict of serializable transactions.
 */
const isDeadlock = (error: unknown): boolean =>
  SqlError.isSqlError(error) &&
  (error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError")
