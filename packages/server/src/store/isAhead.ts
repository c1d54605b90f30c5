import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { retryAfterDeadlock } from "./transactionOf.ts"

/**
 * SQL for whether a time was written before the database clock was set back. Such a time is in the
 * future. Up to 5 seconds are normal, because slots fire two seconds ahead of their time.
 */
export const isAhead = (time: string) => `${time} > now() + interval '5 seconds'`

/** Runs each change in a transaction of its own. */
export const runInOwnTransactions = (
  ...changes: ReadonlyArray<Statement.Statement<object>>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(changes, (change) => retryAfterDeadlock(change), { discard: true })
