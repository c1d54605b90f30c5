import { Context } from "effect"
import { Waker } from "../../core/index.ts"
import type { UpcomingWork } from "../transitions/claim.ts"

/**
 * When to search for due runs for the agents that wait at this node. The runner queries for work
 * anyway, so waiting agents cost no extra statement as long as nothing is due for them. Times are
 * elapsed times.
 */
export class AgentRunSearch {
  /** The number of waiting agents. If it is 0, the runner does not query for runs of workers. */
  waiting = 0
  /** Wakes the dispatcher when runs may be due for an agent. */
  readonly waker = new Waker()

  /**
   * False if this node has no runner, or if the runner has not queried since an agent connected.
   */
  #isKnown = false
  #isDue = false
  #searchAtMs = Number.POSITIVE_INFINITY
  #searchedAtMs = Number.NEGATIVE_INFINITY

  learn({ next_worker_due_ms, now_ms, worker_due }: UpcomingWork, nowMs: number): void {
    this.#isKnown = this.waiting > 0
    if (!this.#isKnown) return
    this.#isDue = worker_due
    const dueInMs = worker_due ? 0 : (next_worker_due_ms ?? Number.POSITIVE_INFINITY) - now_ms
    // A query finds runs ahead of their due time. An agent gets a run only when it is due.
    this.#searchAtMs = nowMs + Math.max(0, dueInMs - workerLookAheadMs)
    if (this.#searchAtMs < Number.POSITIVE_INFINITY) this.waker.wake()
  }

  /** Whether runs may be due for an agent that has just connected. */
  get mayBeDue(): boolean {
    return !this.#isKnown || this.#isDue
  }

  /** Returns the delay before the next query. `pollMs` is for nodes without a runner. */
  restMs(nowMs: number, pollMs: number): number {
    return Math.max(0, (this.#isKnown ? this.#searchAtMs : this.#searchedAtMs + pollMs) - nowMs)
  }

  /** Makes the runner search again. Call it when a due run was not given to any agent. */
  searchAgain(nowMs: number): void {
    this.#searchAtMs = nowMs
    this.waker.wake()
  }

  /** Records that the database was queried. The runner says when more runs are due. */
  searched(nowMs: number): void {
    this.#searchAtMs = Number.POSITIVE_INFINITY
    this.#searchedAtMs = nowMs
  }
}

/**
 * How long before its due time a query finds a run for agents. Tasks create their runs equally
 * early.
 */
export const workerLookAheadMs = 2_000

/** Each node has its own, even if several nodes run in one process. */
export const AgentRunSearchOfNode = Context.Reference<AgentRunSearch>(
  "@scheduling/server/engine/workers/AgentRunSearch",
  { defaultValue: () => new AgentRunSearch() }
)
