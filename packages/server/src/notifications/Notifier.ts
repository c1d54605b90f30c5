import { DateTime, Effect, Fiber, Layer, Semaphore } from "effect"
import { AppConfig } from "../config/Config.ts"
import { OutboxBell } from "../outbox/OutboxBell.ts"
import { briefly, Doorbell, loop, mayBeStuck } from "../platform/Loop.ts"
import { dayMs } from "../platform/millis.ts"
import { Secrets } from "../platform/Secrets.ts"
import { Signals } from "../signals/Signals.ts"
import { ChannelsRepo } from "./channels/ChannelsRepo.ts"
import { openConfig, sealConfig } from "./channels/ChannelSecrets.ts"
import { DeliveriesRepo } from "./deliveries/DeliveriesRepo.ts"
import { kinds } from "./kinds/index.ts"
import type { Claimed } from "./sending/Claimed.ts"
import { maxFailingOfShare, maxSending, maxSendingOfShare, Sender } from "./sending/Sender.ts"
import { Sorter } from "./sorting/Sorter.ts"
import { SorterRepo } from "./sorting/SorterRepo.ts"

/** What nobody rings for is found after this time: what other nodes did, and what comes due. */
const pollMs = 1_000

/** Who sorts now may have begun before the latest came in, and is done in a moment. */
const whileBusyMs = 50

/**
 * What runs beside the requests: from what happened to deliveries, from deliveries to people. Any
 * number of nodes do it. Stopping lets what is under way end, for as long as it may take.
 */
export const NotifierLayer: Layer.Layer<
  never,
  never,
  AppConfig | ChannelsRepo | DeliveriesRepo | Secrets | Sender | Signals | Sorter | SorterRepo
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { retentionDays } = yield* AppConfig
    const bell = yield* OutboxBell
    const channelsRepo = yield* ChannelsRepo
    const deliveries = yield* DeliveriesRepo
    const sender = yield* Sender
    const signals = yield* Signals
    const sorter = yield* Sorter
    const troubles = yield* SorterRepo
    const ring = (yield* Secrets).keys("notification-channel")
    const sendBell = new Doorbell()
    const runFork = Effect.runForkWith(yield* Effect.context<never>())

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

    // 1. Messages under way. A share that has enough gets no more until one of its own has ended.
    const underWay = new Map<Fiber.Fiber<void>, Claimed["channel"]>()
    /** Shares that so many of these are of. */
    const sharesWith = (count: number, channels: ReadonlyArray<Claimed["channel"]>) =>
      [...Map.groupBy(channels, ({ share }) => share)].flatMap(([share, own]) =>
        own.length >= count ? [share] : []
      )
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => Fiber.awaitAll([...underWay.keys()])).pipe(
        Effect.timeout("15 seconds"),
        Effect.ignore
      )
    )

    // 2. Sending: whenever there is room and something is due.
    const sendSome = Effect.gen(function* () {
      const room = maxSending - underWay.size
      const channels = [...underWay.values()]
      const failing = channels.filter(({ failures }) => failures > 0)
      const claimed =
        room <= 0
          ? []
          : yield* sender.claim({
              limit: room,
              except: sharesWith(maxSendingOfShare, channels),
              except_failing: sharesWith(maxFailingOfShare, failing)
            })
      for (const one of claimed) {
        const fiber = runFork(
          sender
            .send(one)
            .pipe(
              Effect.catchCause((cause) =>
                Effect.logWarning(`delivery ${one.delivery.id} is tried again: ${briefly(cause)}`)
              )
            )
        )
        underWay.set(fiber, one.channel)
        fiber.addObserver(() => {
          underWay.delete(fiber)
          sendBell.ring()
        })
      }
      if (claimed.length > 0) return
      const idleMs = yield* sender.idleMs
      // What is due and was not claimed is another node's, or of a share that has enough.
      yield* sendBell.wait(idleMs <= 0 ? pollMs / 5 : Math.min(idleMs, pollMs))
    })
    yield* Effect.forkScoped(loop("sending notifications", sendSome, mayBeStuck))

    const inTurns = (yield* Semaphore.make(1)).withPermit

    // 3. Sorting: whenever something was put into the outbox.
    const sortAll = Effect.gen(function* () {
      const sorted = yield* inTurns(sorter.sort)
      sendBell.ring()
      if (sorted === "all") yield* bell.wait(pollMs)
      if (sorted === "busy") yield* Effect.sleep(whileBusyMs)
    })
    yield* Effect.forkScoped(loop("sorting notifications", sortAll, mayBeStuck))

    // 4. Reminders.
    const remindAll = Effect.gen(function* () {
      const reminded = yield* inTurns(sorter.remind)
      if (reminded === "all") yield* Effect.sleep("15 seconds")
      if (reminded === "busy") yield* Effect.sleep(whileBusyMs)
    })
    yield* Effect.forkScoped(loop("reminding", remindAll))

    // 5. What is over goes, and what a retired secret has sealed is sealed anew.
    const tidyUp = Effect.gen(function* () {
      const now = yield* DateTime.nowAsDate
      yield* troubles.removeOrphans
      yield* deliveries.removeEnded(new Date(now.getTime() - retentionDays * dayMs))
      for (const row of yield* channelsRepo.listSealedOtherwise(ring[0].id)) {
        const { config } = openConfig(ring, row.id, row)
        const { sealed_secrets: to } = sealConfig(ring, row.id, kinds[row.kind], config)
        yield* channelsRepo.updateSecrets(row.id, { from: row.sealed_secrets, to })
      }
    })
    yield* Effect.forkScoped(
      loop("tidying up notifications", tidyUp, {
        between: () => Effect.sleep("10 minutes"),
        pauseAtMost: "1 minute"
      })
    )
  })
)
