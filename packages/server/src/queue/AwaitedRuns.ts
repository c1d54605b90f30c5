import { Context } from "effect"
import { Doorbell } from "../platform/Loop.ts"
import type { Upcoming } from "./starting/Claim.ts"

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

  learn({ next_worker_due_ms, now_ms, worker_due }: Upcoming, nowMs: number): void {
    this.#isKnown = this.waiting > 0
    if (!this.#isKnown) return
    this.#isDue = worker_due
    this.#lookAtMs = worker_due
      ? nowMs
      : next_worker_due_ms === null
        ? Number.POSITIVE_INFINITY
        : nowMs + next_worker_due_ms - now_ms
    if (this.#lookAtMs < Number.POSITIVE_INFINITY) this.bell.ring()
  }

  /** Whether runs may be due for an agent that has just come. */
  get mayBeDue(): boolean {
    return !this.#isKnown || this.#isDue
  }

  /** When to look which runs are due. `pollMs` is for nodes without a runner. */
  restMs(nowMs: number, pollMs: number): number {
    return this.#isKnown ? Math.max(0, this.#lookAtMs - nowMs) : pollMs
  }

  /** The runner says if there is more. */
  looked(): void {
    this.#lookAtMs = Number.POSITIVE_INFINITY
  }
}

/** Belongs to one node, even if a process has several. */
export const AwaitedRunsOfNode = Context.Reference<AwaitedRuns>(
  "@scheduling/server/queue/AwaitedRuns",
  { defaultValue: () => new AwaitedRuns() }
)
