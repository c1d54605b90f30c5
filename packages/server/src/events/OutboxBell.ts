import { Context } from "effect"
import { Doorbell } from "../core/index.ts"

/**
 * Rings when this node has written to the outbox. It only saves time: the outbox is checked every
 * second anyway.
 */
export class OutboxDoorbell extends Doorbell {
  /** Whether something in this process listens to the bell. */
  isAnswered = false
}

/** Belongs to one node, even if a process has several. */
export const OutboxBell = Context.Reference<OutboxDoorbell>(
  "@scheduling/server/events/OutboxBell",
  {
    defaultValue: () => new OutboxDoorbell()
  }
)
