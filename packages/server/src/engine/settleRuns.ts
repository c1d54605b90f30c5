import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { retryAfterDeadlock } from "../store/index.ts"
import type { Settlement } from "./Run.ts"
import { makeAfterSettled } from "./afterSettled.ts"
import { TaskPauses } from "./TaskPauses.ts"
import { finish } from "./transitions/finish.ts"

/**
 * Settles runs that are not in the memory of any node, and then runs `makeAfterSettled`. Do not
 * call it in a transaction. Returns the ids of the runs whose result was written.
 */
export const makeSettleRuns = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const afterSettled = yield* makeAfterSettled
  const pauses = yield* TaskPauses
  return Effect.fn("settleRuns")(function* (settlements: ReadonlyArray<Settlement>) {
    if (settlements.length === 0) return new Set<string>()
    const settled = yield* retryAfterDeadlock(finish(sql, settlements)).pipe(
      Effect.provideService(TaskPauses, pauses)
    )
    yield* afterSettled(settlements, settled)
    return new Set(settled.ids)
  })
})
