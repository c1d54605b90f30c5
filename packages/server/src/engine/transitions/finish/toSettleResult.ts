import type { FollowUp, NextStep } from "../../chains/ChainRuns.ts"
import type { PausedTask } from "../../TaskPauses.ts"
import type { Settlement } from "../../Run.ts"
import type { SettleResult } from "../../SettleResult.ts"

/** The columns that the statement returns for each run it wrote. */
export interface WrittenRow {
  readonly id: string
  readonly released: boolean
  readonly announced: boolean
  /** The queue in which the run held a slot. */
  readonly slot_queue_id: string | null
  /** The queue of the run's next attempt or step. */
  readonly queue_id: string | null
}

/** Returns the effects of the settlements. */
export const toSettleResult = (
  settlements: ReadonlyArray<Settlement>,
  followUps: ReadonlyMap<string, FollowUp>,
  rows: ReadonlyArray<WrittenRow>,
  paused: ReadonlyArray<PausedTask>
): SettleResult => {
  const nextOf = ({ id }: Settlement) => followUps.get(id)?.next ?? null
  const waitsForTurn = new Map(rows.map(({ id, queue_id }) => [id, queue_id !== null]))
  const queues = rows.flatMap(({ queue_id, slot_queue_id }) => [slot_queue_id, queue_id])
  return {
    ids: rows.map(({ id }) => id),
    finished: settlements.flatMap((settlement) => finishedBy(settlement, nextOf(settlement))),
    lastSteps: settlements
      .filter((one) => one.kind === "chain" && one.status !== null && nextOf(one) === null)
      .map(({ id }) => id),
    released:
      rows.some(({ released }) => released) ||
      settlements.some((settlement) => nextOf(settlement)?.on_worker),
    paused,
    queues: [...new Set(queues.filter((id) => id !== null))],
    slots: rows.flatMap(({ id, slot_queue_id }) =>
      slot_queue_id === null ? [] : [{ id, queue_id: slot_queue_id }]
    ),
    announced: paused.length > 0 || rows.some(({ announced }) => announced),
    next: settlements.flatMap((settlement) => {
      const next = nextOf(settlement)
      const isLeased =
        next?.on_worker === false && (next.is_pause || waitsForTurn.get(settlement.id) === false)
      if (next === null || !isLeased) return []
      const { id: after, workspace_id } = settlement
      return [{ id: next.id, after, workspace_id, attempt: 1, due_ms: 0 }]
    })
  }
}

/** The executions and chain runs that finish with a settlement. */
const finishedBy = (
  { id, position, status }: Settlement,
  next: NextStep | null
): ReadonlyArray<string> => {
  if (status === null) return []
  // A chain run that never started has the id of its first step.
  return position === null || next !== null ? [id] : [id, position.chain_run_id]
}
