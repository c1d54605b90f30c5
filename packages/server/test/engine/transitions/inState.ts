import type { RunState } from "../../../src/engine/RunState.ts"

/**
 * Returns the columns that put a row of `runs` into a state, for `sql.update` and `sql.insert`. If
 * the run is in a queue, it holds a slot unless it is waiting for a slot or for another run.
 */
export const inState = (
  state: RunState,
  {
    at = new Date(),
    node = 1,
    queue = null
  }: {
    readonly at?: Date
    readonly node?: number
    readonly queue?: string | null
  } = {}
) => {
  const hasBegun = state === "running" || state === "awaiting"
  return {
    state,
    lease_owner: state === "leased" || state === "running" ? node : null,
    started_at: hasBegun ? at : null,
    attempt_started_at: hasBegun ? at : null,
    awaiting_since: state === "awaiting" ? at : null,
    completes_by: state === "awaiting" ? new Date(at.getTime() + 60_000) : null,
    queue_id: queue,
    slot_queue_id: state === "parked" || state === "blocked" ? null : queue
  }
}
