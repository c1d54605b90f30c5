import { Effect } from "effect"
import type { SqlError, Statement } from "effect/sql"
import { againAfterCollision } from "./transaction.ts"

/**
 * SQL for whether a time is later than what was written now could be: it was written before the clock
 * of the database was set back. Slots fire two seconds ahead of their time.
 */
export const isAhead = (time: string) => `${time} > now() + interval '5 seconds'`

/** Each change is a transaction of its own, because nothing depends on their being made together. */
export const eachAlone = (
  ...changes: ReadonlyArray<Statement.Statement<object>>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(changes, (change) => againAfterCollision(change), { discard: true })
