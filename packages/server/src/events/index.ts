/**
 * Events. The outbox keeps them in the transaction of the change that caused them, signals carry
 * them to other nodes, and live changes go to the subscribers of a workspace.
 */
import { Layer } from "effect"
import { LiveChangesLayer } from "./Changes.ts"
import { Endings } from "./Endings.ts"
import { Outbox } from "./Outbox.ts"
import { OutboxBell, OutboxDoorbell } from "./OutboxBell.ts"
import { Signals } from "./Signals.ts"

export { type Changes, LiveChanges } from "./Changes.ts"
export { Endings, type Watch } from "./Endings.ts"
export { ListeningLayer, listenOn } from "./Listening.ts"
export { type Announcement, type AnnouncementData, Outbox, subjectGone } from "./Outbox.ts"
export { OutboxBell } from "./OutboxBell.ts"
export type { Change, SentChange } from "./Recent.ts"
export { Signals } from "./Signals.ts"
export { announceFinished } from "./endedRuns.ts"
export { tellAfterCommit } from "./tellAfterCommit.ts"

export const EventsLayer = Layer.mergeAll(Outbox.layer, Endings.layer, LiveChangesLayer).pipe(
  Layer.provideMerge(Signals.layer),
  Layer.provideMerge(Layer.sync(OutboxBell, () => new OutboxDoorbell()))
)
