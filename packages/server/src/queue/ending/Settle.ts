import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { beginAwaiting } from "../awaiting/Awaiting.ts"
import type { Settlement } from "../Run.ts"
import { nothingSettled } from "./Settled.ts"
import { settleAnswered } from "./settleAnswered.ts"

/** Writes the results of runs. Those that await a call-back from now on have a statement of their own. */
export const settle = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const goingOn = settlements.filter(({ completes_by_ms }) => completes_by_ms !== null)
  if (goingOn.length === 0) return yield* settleAnswered(sql, settlements)
  const awaiting = yield* beginAwaiting(sql, goingOn)
  const answered = settlements.filter(({ completes_by_ms }) => completes_by_ms === null)
  const settled = answered.length === 0 ? nothingSettled : yield* settleAnswered(sql, answered)
  return { ...settled, ids: [...awaiting, ...settled.ids] }
})
