import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { retryAfterDeadlock } from "./transactionOf.ts"

/**
 * SQL condition for a time that was written before the database clock was set back. Such a time is
 * in the future. A time up to 5 seconds in the future is normal, because slots fire two seconds
 * ahead of their time.
 */
export const isAheadOfClock = (time: string) => `${time} > now() + interval '5 seconds'`

/** Runs each change in a transaction of its own. */
export const runInOwnTransactions = (
  ...changes: ReadonlyArray<Statement.Statement<object>>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(changes, (change) => retryAfterDeadlock(change), { discard: true })
