import type { LeasedRun } from "./Run.ts"
import type { PausedTask } from "./TaskPauses.ts"

/** A slot in a named queue that a run held until its result was written. */
export interface FreedSlot {
  readonly queue_id: string
  /** The run whose result was written. */
  readonly id: string
}

/** What changed when results were written. */
export interface SettleResult {
  readonly ids: ReadonlyArray<string>
  /** Executions and chain runs that have finished, even if another node wrote their results. */
  readonly finished: ReadonlyArray<string>
  /** Executions that were the last of their chain runs. */
  readonly lastSteps: ReadonlyArray<string>
  /** Whether a run that was blocked, or a step that runs on a worker, may start now. */
  readonly released: boolean
  /** Tasks that were paused because they failed too often. */
  readonly paused: ReadonlyArray<PausedTask>
  /** Queues that may have a free slot or a new parked run. */
  readonly queues: ReadonlyArray<string>
  /** The slots that the runs held in named queues. */
  readonly slots: ReadonlyArray<FreedSlot>
  /** Whether events were added to the outbox. */
  readonly announced: boolean
  /** The next steps of chains, leased to the node that finished the previous steps. */
  readonly next: ReadonlyArray<
    Pick<LeasedRun, "id" | "workspace_id" | "attempt" | "due_ms"> & {
      /** The id of the previous step. */
      readonly after: string
    }
  >
}

export const emptySettleResult: SettleResult = {
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
