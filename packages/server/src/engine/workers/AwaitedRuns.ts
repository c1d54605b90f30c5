import { Context } from "effect"
import { Waker } from "../../core/index.ts"
import type { Upcoming } from "../transitions/claim.ts"

/**
 * What the runner knows of due runs for the agents that wait at this node. The runner searches for
 * work anyway, so agents that wait cost no statement of their own as long as nothing is due for
 * them. Times are elapsed time.
 */
export class AwaitedRuns {
  /** How many agents wait. At 0, the runner does not search for runs of workers. */
  waiting = 0
  /** Wakes the dispatch when runs may be due for an agent. */
  readonly waker = new Waker()

  /** False if this node has no runner, or the runner has not searched since an agent came. */
  #isKnown = false
  #isDue = false
  #searchAtMs = Number.POSITIVE_INFINITY
  #searchedAtMs = Number.NEGATIVE_INFINITY

  learn({ next_worker_due_ms, now_ms, worker_due }: Upcoming, nowMs: number): void {
    this.#isKnown = this.waiting > 0
    if (!this.#isKnown) return
    this.#isDue = worker_due
    const dueInMs = worker_due ? 0 : (next_worker_due_ms ?? Number.POSITIVE_INFINITY) - now_ms
    // The search sees this far ahead, and a run that it finds is given to an agent when it is due.
    this.#searchAtMs = nowMs + Math.max(0, dueInMs - seenAheadMs)
    if (this.#searchAtMs < Number.POSITIVE_INFINITY) this.waker.wake()
  }

  /** Whether runs may be due for an agent that has just come. */
  get mayBeDue(): boolean {
    return !this.#isKnown || this.#isDue
  }

  /** How long to wait before the next search. `pollMs` is for nodes without a runner. */
  restMs(nowMs: number, pollMs: number): number {
    return Math.max(0, (this.#isKnown ? this.#searchAtMs : this.#searchedAtMs + pollMs) - nowMs)
  }

  /** Called when a run was due that no agent got. */
  searchAgain(nowMs: number): void {
    this.#searchAtMs = nowMs
    this.waker.wake()
  }

  /** Called after a search. The runner says when more is due. */
  searched(nowMs: number): void {
    this.#searchAtMs = Number.POSITIVE_INFINITY
    this.#searchedAtMs = nowMs
  }
}

/** How far ahead of its time a search for agents finds a run. Tasks fire as far ahead. */
export const seenAheadMs = 2_000

/** Belongs to one node, even if a process has several. */
export const AwaitedRunsOfNode = Context.Reference<AwaitedRuns>(
  "@scheduling/server/engine/workers/AwaitedRuns",
  { defaultValue: () => new AwaitedRuns() }
)
