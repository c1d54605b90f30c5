/**
 * Events: the outbox stores them in the transaction of the change that caused them, signals carry
 * them to other nodes, and live changes go to the subscribers of a workspace.
 */
import { Layer } from "effect"
import { LiveChangesLayer } from "./Changes.ts"
import { EndSignals } from "./EndSignals.ts"
import { Outbox } from "./Outbox.ts"
import { OutboxWaker, WatchedWaker } from "./OutboxWaker.ts"
import { Signals } from "./Signals.ts"

export { type Changes, LiveChanges } from "./Changes.ts"
export { EndSignals, type EndWatch } from "./EndSignals.ts"
export { listenForSignals, SignalListenerLayer } from "./SignalListener.ts"
export {
  type NewOutboxEvent,
  type OutboxEventData,
  type EventData,
  type FailedStep,
  Outbox,
  type RunData,
  subjectRemoved
} from "./Outbox.ts"
export { OutboxWaker } from "./OutboxWaker.ts"
export { type Change, resetChange, type SentChange, taskChange } from "./RecentChanges.ts"
export { Signals } from "./Signals.ts"
export { announceApprovals } from "./announceApprovals.ts"
export { announceFinished } from "./announceFinished.ts"
export { publishAfterCommit } from "./publishAfterCommit.ts"

export const EventsLayer = Layer.mergeAll(Outbox.layer, EndSignals.layer, LiveChangesLayer).pipe(
  Layer.provideMerge(Signals.layer),
  Layer.provideMerge(Layer.sync(OutboxWaker, () => new WatchedWaker()))
)
