import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { beginAwaiting } from "../awaiting/Awaiting.ts"
import type { Settlement } from "../Run.ts"
import { nothingSettled } from "./Settled.ts"
import { writeResults } from "./writeResults.ts"

/**
 * Writes the results of runs, by `writeResults`. Those that await a call-back from now on have a
 * statement of their own. Whoever calls this does `afterSettled` after the commit: the settler of a
 * node (`runner/Settler.ts`) for the calls that it made, `SettleAlone.ts` and `Reap.ts` for runs
 * that no node has in its memory, and whoever uses `Cancel.ts`.
 */
export const settle = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const goingOn = settlements.filter(({ completes_by_ms }) => completes_by_ms !== null)
  if (goingOn.length === 0) return yield* writeResults(sql, settlements)
  const awaiting = yield* beginAwaiting(sql, goingOn)
  const answered = settlements.filter(({ completes_by_ms }) => completes_by_ms === null)
  const settled = answered.length === 0 ? nothingSettled : yield* writeResults(sql, answered)
  return { ...settled, ids: [...awaiting, ...settled.ids] }
})
