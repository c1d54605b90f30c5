import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { LeftPlace } from "../admitting/HandOver.ts"
import { beginAwaiting } from "../awaiting/Awaiting.ts"
import type { LeasedRun, Settlement } from "../Run.ts"
import type { DisabledTask } from "./disableFailing.ts"
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

/** What became of results that were written. */
export interface Settled {
  readonly ids: ReadonlyArray<string>
  /** Executions and chain runs that have ended, even if another node wrote that. */
  readonly ended: ReadonlyArray<string>
  /** Whether a run that waited for one of these may start now, or a step on a worker. */
  readonly released: boolean
  /** Tasks that were paused because they have failed too often. */
  readonly disabled: ReadonlyArray<DisabledTask>
  /** Queues with a place that may be free now, or a run that waits. */
  readonly queues: ReadonlyArray<string>
  /** The places that their runs had in these. */
  readonly places: ReadonlyArray<LeftPlace>
  /** Whether the outbox has something new. */
  readonly announced: boolean
  /** The next steps of chains, leased to the node that ended the steps before them. */
  readonly next: ReadonlyArray<
    Pick<LeasedRun, "id" | "workspace_id" | "attempt" | "due_ms"> & {
      /** The id of the step before it. */
      readonly after: string
    }
  >
}

export const nothingSettled: Settled = {
  ids: [],
  ended: [],
  released: false,
  disabled: [],
  queues: [],
  places: [],
  announced: false,
  next: []
}
