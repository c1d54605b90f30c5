import { Context } from "effect"
import { Doorbell } from "../../core/index.ts"
import type { Upcoming } from "../transitions/claim.ts"

/**
 * What the runner tells the agents that wait for runs at this node. It looks for work anyway, so
 * that agents which wait cost no statement of their own as long as nothing is due for them. Times
 * are elapsed time.
 */
export class AwaitedRuns {
  /** How many agents wait. Without any, the runner does not look for them. */
  waiting = 0
  /** Rings when there may be something to look for. */
  readonly bell = new Doorbell()

  /** False if no runner looks on this node, or not yet since an agent came. */
  #isKnown = false
  #isDue = false
  #lookAtMs = Number.POSITIVE_INFINITY
  #lookedAtMs = Number.NEGATIVE_INFINITY

  learn({ next_worker_due_ms, now_ms, worker_due }: Upcoming, nowMs: number): void {
    this.#isKnown = this.waiting > 0
    if (!this.#isKnown) return
    this.#isDue = worker_due
    const dueInMs = worker_due ? 0 : (next_worker_due_ms ?? Number.POSITIVE_INFINITY) - now_ms
    // A look sees as far ahead, and what it sees is given at its time.
    this.#lookAtMs = nowMs + Math.max(0, dueInMs - seenAheadMs)
    if (this.#lookAtMs < Number.POSITIVE_INFINITY) this.bell.ring()
  }

  /** Whether runs may be due for an agent that has just come. */
  get mayBeDue(): boolean {
    return !this.#isKnown || this.#isDue
  }

  /** When to look which runs are due. `pollMs` is for nodes without a runner. */
  restMs(nowMs: number, pollMs: number): number {
    return Math.max(0, (this.#isKnown ? this.#lookAtMs : this.#lookedAtMs + pollMs) - nowMs)
  }

  /** Something was due that nobody got. */
  lookAgain(nowMs: number): void {
    this.#lookAtMs = nowMs
    this.bell.ring()
  }

  /** The runner says if there is more. */
  looked(nowMs: number): void {
    this.#lookAtMs = Number.POSITIVE_INFINITY
    this.#lookedAtMs = nowMs
  }
}

/** How far ahead of its time a run is seen by a look for agents. Tasks fire as far ahead. */
export const seenAheadMs = 2_000

/** Belongs to one node, even if a process has several. */
export const AwaitedRunsOfNode = Context.Reference<AwaitedRuns>(
  "@scheduling/server/engine/workers/AwaitedRuns",
  { defaultValue: () => new AwaitedRuns() }
)
