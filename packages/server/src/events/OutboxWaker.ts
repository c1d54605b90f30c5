import { Context } from "effect"
import { Waker } from "../core/index.ts"

/**
 * Wakes the router and the sender when this node has written to the outbox. Wake-ups only reduce
 * latency, because the outbox is also polled every second.
 */
export class WatchedWaker extends Waker {
  /** True while the router of this process waits for this waker. */
  isWatched = false
}

/** The waker of one node. A process may have several nodes. */
export const OutboxWaker = Context.Reference<WatchedWaker>(
  "@scheduling/server/events/OutboxWaker",
  {
    defaultValue: () => new WatchedWaker()
  }
)
