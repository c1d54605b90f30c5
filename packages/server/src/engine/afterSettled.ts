import { Effect } from "effect"
import { Endings, LiveChanges, OutboxBell, Signals } from "../events/index.ts"
import type { Settlement } from "./Run.ts"
import { notifySettled } from "./notifyChanges.ts"
import type { Settled } from "./Settled.ts"

/** Tells those who wait for a result, follow a workspace or send what is in the outbox. */
export const makeNotifyFinished = Effect.gen(function* () {
  const changes = yield* LiveChanges
  const endings = yield* Endings
  const outboxBell = yield* OutboxBell
  return (settlements: ReadonlyArray<Settlement>, settled: Settled): void => {
    endings.tell(settled.finished)
    notifySettled(changes, settlements, settled)
    if (settled.announced) outboxBell.ring()
  }
})

/**
 * All that follows once results are written and committed, whoever wrote them: besides telling of
 * them, runs that may go on now are looked for, and free slots go to the next runs of their queues.
 * Only the settler of a node does the latter itself, because it knows more.
 */
export const makeAfterSettled = Effect.gen(function* () {
  const signals = yield* Signals
  const notifyFinished = yield* makeNotifyFinished
  return Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>, settled: Settled) {
    notifyFinished(settlements, settled)
    const isMoreDue = settled.released || settled.next.length > 0 || settlements.some(isTriedAgain)
    if (isMoreDue) yield* signals.wake
    if (settled.queues.length > 0) yield* signals.admit(settled.queues)
  })
})

const isTriedAgain = ({ status }: Settlement) => status === null
