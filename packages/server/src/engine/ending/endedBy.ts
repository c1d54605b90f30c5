import type { NextStep } from "../chains/ChainRuns.ts"
import type { Settlement } from "../Run.ts"

/** A delayed task has nothing to pause. */
export const endsInFailure = ({ kind, place, status }: Settlement): boolean =>
  kind !== "delayed" &&
  (status === "failed" || (status === "succeeded" && place?.after_failure === true))

/** The executions and chain runs that end with a settlement. */
export const endedBy = (
  { id, place, status }: Settlement,
  next: NextStep | null | undefined
): ReadonlyArray<string> => {
  if (status === null) return []
  // A chain run that never started has the id of its first step.
  return place === null || (next !== null && next !== undefined) ? [id] : [id, place.chain_run_id]
}
