import { advanceChain, type StepOutcome } from "./advanceChain.ts"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { findOutlines, type ChainOutline } from "./ChainVersions.ts"
import type { Settlement, StepPosition } from "../Run.ts"
import { makeRunId, timeOfId } from "../RunId.ts"

/**
 * SQL for the `position` of a row of `runs`, or null if the run has no version. `version` is the
 * SQL for the version: a run that is being started takes the version of its task.
 */
export const positionColumn = (version = "runs.version_id") => `
  CASE WHEN ${version} IS NOT NULL THEN json_build_object(
    'chain_run_id', runs.chain_run_id,
    'version_id', ${version},
    'step_index', runs.step_index,
    'after_failure', runs.after_failure IS TRUE
  ) END AS position`

/** A step that follows the one that has just finished. */
export interface NextStep {
  readonly id: string
  readonly step_index: number
  readonly step: string
  /** Whether the step runs on a worker. If so, it is not leased yet. */
  readonly on_worker: boolean
  /** Whether the step waits instead of making a call. If so, it needs no slot of a queue. */
  readonly is_pause: boolean
}

/** What follows a finished step. */
export interface FollowUp {
  /** The step to start. Null if the chain run has finished. */
  readonly next: NextStep | null
  /** The steps that are skipped. */
  readonly skipped: ReadonlyArray<NextStep>
}

export const followUpOf = (
  { after_failure, step_index }: Pick<StepPosition, "after_failure" | "step_index">,
  { conditions, names, on_workers, pauses }: Omit<ChainOutline, "version_id">,
  outcome: StepOutcome,
  nowMs: number
): FollowUp => {
  // The whole chain run is skipped, because the previous chain run is still in progress. Its later
  // steps are not recorded either.
  if (outcome === "skipped") return { next: null, skipped: [] }
  const before = Array.from({ length: step_index }, () => (after_failure ? "failed" : "skipped"))
  const steps = conditions.map((run_if) => ({ run_if }))
  const { next, skipped } = advanceChain(steps, [...before, outcome])
  const toNext = (index: number): NextStep => ({
    id: makeRunId(nowMs, nowMs),
    step_index: index,
    step: names[index] ?? "",
    on_worker: on_workers[index] ?? false,
    is_pause: pauses[index] ?? false
  })
  return { next: next === null ? null : toNext(next), skipped: skipped.map(toNext) }
}

/**
 * Finds what follows each finished step, by the id of its run. Uses one statement for all steps.
 */
export const findFollowUps = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
) {
  const followUps = new Map<string, FollowUp>()
  const versions = new Set<string>()
  for (const { position, status } of settlements) {
    if (position !== null && status !== null) versions.add(position.version_id)
  }
  if (versions.size === 0) return followUps
  const outlines = yield* findOutlines(sql, [...versions])
  const byVersion = new Map(outlines.map((outline) => [outline.version_id, outline]))
  const now = yield* Clock.currentTimeMillis
  for (const { finished_ms, id, position, status } of settlements) {
    if (position === null || status === null) continue
    const outline = byVersion.get(position.version_id)
    if (outline === undefined) continue
    // The id of a step must be higher than the ids of earlier steps, even if the clock of another
    // node is ahead.
    const atMs = Math.max(finished_ms ?? now, timeOfId(id) + 1)
    followUps.set(id, followUpOf(position, outline, status, atMs))
  }
  return followUps
})
