import type { LeasedRun } from "./Run.ts"
import type { PausedTask } from "./pauseFailing.ts"

/** The slot that a run held in a named queue until its result was written. */
export interface FreedSlot {
  readonly queue_id: string
  /** The run whose result was written. */
  readonly id: string
}

/** What became of results that were written. */
export interface Settled {
  readonly ids: ReadonlyArray<string>
  /** Executions and chain runs that have finished, even if another node wrote that. */
  readonly finished: ReadonlyArray<string>
  /** Executions with which their chain runs have finished. */
  readonly lastSteps: ReadonlyArray<string>
  /** Whether a run that waited for one of these may start now, or a step on a worker. */
  readonly released: boolean
  /** Tasks that were paused because they have failed too often. */
  readonly paused: ReadonlyArray<PausedTask>
  /** Queues with a slot that may be free now, or a run that waits. */
  readonly queues: ReadonlyArray<string>
  /** The slots that the runs held in them. */
  readonly slots: ReadonlyArray<FreedSlot>
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
  finished: [],
  lastSteps: [],
  released: false,
  paused: [],
  queues: [],
  slots: [],
  announced: false,
  next: []
}
