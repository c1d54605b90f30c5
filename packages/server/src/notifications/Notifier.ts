import { DateTime, Effect, Layer, Semaphore } from "effect"
import { AppConfig, dayMs, Doorbell, eachInTurn, loop, mayBeStuck } from "../core/index.ts"
import { OutboxBell, Signals } from "../events/index.ts"
import { callingBack } from "./callbacks/callingBack.ts"
import type { CallbackSender } from "./callbacks/CallbackSender.ts"
import type { CallbackSorter } from "./callbacks/CallbackSorter.ts"
import { DeliveriesRepo } from "./deliveries/DeliveriesRepo.ts"
import type { Claimed } from "./sending/Claimed.ts"
import { maxFailingOfShare, maxSending, maxSendingOfShare, Sender } from "./sending/Sender.ts"
import { keysOfMany, pollMs, sendWhatIsDue } from "./sending/sendWhatIsDue.ts"
import { Sorter } from "./sorting/Sorter.ts"
import { SorterRepo } from "./sorting/SorterRepo.ts"

/** Who sorts now may have begun before the latest came in, and is done in a moment. */
const whileBusyMs = 50

/**
 * What runs beside the requests: from what happened to deliveries, from deliveries to people. Any
 * number of nodes do it. Stopping lets what is under way end, for as long as it may take.
 */
export const NotifierLayer: Layer.Layer<
  never,
  never,
  | AppConfig
  | CallbackSender
  | CallbackSorter
  | DeliveriesRepo
  | Sender
  | Signals
  | Sorter
  | SorterRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { retentionDays } = yield* AppConfig
    const bell = yield* OutboxBell
    const deliveries = yield* DeliveriesRepo
    const sender = yield* Sender
    const signals = yield* Signals
    const sorter = yield* Sorter
    const troubles = yield* SorterRepo
    const sendBell = new Doorbell()
    const callbackBell = new Doorbell()

    yield* Effect.acquireRelease(
      Effect.sync(() => void (bell.isAnswered = true)),
      () => Effect.sync(() => void (bell.isAnswered = false))
    )
    yield* signals.hear({
      heard: (payload) => {
        if (payload === "outbox") bell.ring()
      },
      connected: () => bell.ring()
    })

    // 1. Sending: whenever there is room and something is due. A share that has enough gets no more
    // until one of its own has ended.
    const sending = yield* sendWhatIsDue({
      loopName: "sending notifications",
      nameOf: ({ delivery }) => `delivery ${delivery.id}`,
      bell: sendBell,
      claim: (underWay) => {
        const room = maxSending - underWay.length
        const shareOf = ({ channel }: Claimed) => channel.share
        const failing = underWay.filter(({ channel }) => channel.failures > 0)
        return room <= 0
          ? Effect.succeed([])
          : sender.claim({
              limit: room,
              except: keysOfMany(underWay, maxSendingOfShare, shareOf),
              except_failing: keysOfMany(failing, maxFailingOfShare, shareOf)
            })
      },
      send: sender.send,
      idleMs: sender.idleMs
    })

    const inTurns = (yield* Semaphore.make(1)).withPermit

    // 2. Sorting: whenever something was put into the outbox.
    const sortAll = Effect.gen(function* () {
      const sorted = yield* inTurns(sorter.sort)
      sendBell.ring()
      callbackBell.ring()
      if (sorted === "all") yield* bell.wait(pollMs)
      if (sorted === "busy") yield* Effect.sleep(whileBusyMs)
    })
    yield* Effect.forkScoped(loop("sorting notifications", sortAll, mayBeStuck))

    // 3. Reminders.
    const remindAll = Effect.gen(function* () {
      const reminded = yield* inTurns(sorter.remind)
      if (reminded === "all") yield* Effect.sleep("15 seconds")
      if (reminded === "busy") yield* Effect.sleep(whileBusyMs)
    })
    yield* Effect.forkScoped(loop("reminding", remindAll))

    // 4. Call-backs of tasks, after alerts.
    yield* callingBack(callbackBell, () => sending() >= maxSending)

    // 5. What is over goes.
    const tidyUp = Effect.gen(function* () {
      const now = yield* DateTime.nowAsDate
      yield* eachInTurn([
        troubles.removeOrphans,
        deliveries.removeEnded(
          new Date(now.getTime() - retentionDays * dayMs),
          new Date(now.getTime() - dayMs)
        )
      ])
    })
    yield* Effect.forkScoped(
      loop("tidying up notifications", tidyUp, {
        between: () => Effect.sleep("10 minutes"),
        pauseAtMost: "1 minute"
      })
    )
  })
)
