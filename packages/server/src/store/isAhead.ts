import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { againAfterCollision } from "./transaction.ts"

/**
 * SQL for whether a time is too late to have been written now, so that it was written before the
 * database's clock was set back. Slots fire two seconds ahead of their time.
 */
export const isAhead = (time: string) => `${time} > now() + interval '5 seconds'`

/** Each change is a transaction of its own, because they do not depend on each other. */
export const eachAlone = (
  ...changes: ReadonlyArray<Statement.Statement<object>>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(changes, (change) => againAfterCollision(change), { discard: true })
