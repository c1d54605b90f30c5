import { Effect } from "effect"
import { EndSignals, LiveChanges, OutboxWaker, Signals } from "../events/index.ts"
import type { Settlement } from "./Run.ts"
import { publishSettled } from "./publishRunChanges.ts"
import type { SettleResult } from "./SettleResult.ts"

/** Notifies requests that wait for a result, subscribers of the workspace, and the router. */
export const makeNotifyFinished = Effect.gen(function* () {
  const changes = yield* LiveChanges
  const endSignals = yield* EndSignals
  const outboxWaker = yield* OutboxWaker
  return (settlements: ReadonlyArray<Settlement>, settled: SettleResult): void => {
    endSignals.send(settled.finished)
    publishSettled(changes, settlements, settled)
    if (settled.announced) outboxWaker.wake()
  }
})

/**
 * Does what must follow the commit of results: sends notifications, wakes nodes for runs that may
 * start now, and gives free slots to the next runs of their queues. The settler of a node does not
 * use this function, because it wakes its own loops and gives slots away itself.
 */
export const makeAfterSettled = Effect.gen(function* () {
  const signals = yield* Signals
  const notifyFinished = yield* makeNotifyFinished
  return Effect.fnUntraced(function* (
    settlements: ReadonlyArray<Settlement>,
    settled: SettleResult
  ) {
    notifyFinished(settlements, settled)
    const isMoreDue = settled.released || settled.next.length > 0 || settlements.some(willRetry)
    if (isMoreDue) yield* signals.wake
    if (settled.queues.length > 0) yield* signals.admit(settled.queues)
  })
})

const willRetry = ({ status }: Settlement) => status === null
