import { Context } from "effect"
import { Waker } from "../core/index.ts"

/**
 * Wakes the router and the sender when this node has written to the outbox. Wake-ups only reduce
 * latency, because the outbox is also polled every second.
 */
export class WatchedWaker extends Waker {
  /** True if the router of this process is waiting for the waker. */
  isWatched = false
}

/** The waker of one node, of which a process may have several. */
export const OutboxWaker = Context.Reference<WatchedWaker>(
  "@scheduling/server/events/OutboxWaker",
  {
    defaultValue: () => new WatchedWaker()
  }
)
