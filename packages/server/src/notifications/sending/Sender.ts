import { Context, Effect, Fiber, Layer, Random, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { loop, Meters, stuckRestartOptions, shortMessage, Waker } from "../../core/index.ts"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { PauseChannel } from "../channels/PauseChannel.ts"
import { messageOf } from "../kinds/Message.ts"
import { decideAfterAttempt } from "./decideAfterAttempt.ts"
import { type ClaimedDelivery, DeliveriesRepo } from "./DeliveriesRepo.ts"
import { Transport } from "./Transport.ts"
import { firstLane } from "./walkLanes.ts"

// 1. `claim` leases due deliveries, up to the limit of the node.
// 2. `send` passes each delivery to its kind, through `Transport`.
// 3. `send` then records the attempt, and `decideAfterAttempt` decides when the next one is.
// 4. `runSender` repeats this for alerts and for callbacks, whenever a delivery is due and the
//    limit allows it.

/** The limits of a node's concurrent deliveries. */
export interface SendingLimits {
  /** True for callbacks, false for messages to channels. */
  readonly callbacks: boolean
  readonly maxInProgress: number
  readonly maxPerShare: number
  /**
   * The limit per share for channels that failed recently. A share is the set of accounts
   * registered from one public IP address. If a provider hangs, other channels can use the rest of
   * the share's limit.
   */
  readonly maxFailingPerShare: number
  /** The limit per URL. */
  readonly maxPerTarget: number
  /**
   * The maximum number of database connections for recording attempts. They are taken from the pool
   * for requests.
   */
  readonly connections: number
}

/** The limits of messages to channels. */
export const alertLimits: SendingLimits = {
  callbacks: false,
  maxInProgress: 128,
  maxPerShare: 16,
  maxFailingPerShare: 8,
  maxPerTarget: Number.POSITIVE_INFINITY,
  connections: 2
}

/** The limits of tasks' callbacks. They are separate, so that no alert waits for a callback. */
export const callbackLimits: SendingLimits = {
  callbacks: true,
  maxInProgress: 32,
  maxPerShare: 8,
  maxFailingPerShare: Number.POSITIVE_INFINITY,
  maxPerTarget: 4,
  connections: 1
}

/** Maximum number of deliveries per lane (that is, per account) that a statement claims. */
const maxPerLane = 4

const timeoutSeconds = 10

/**
 * A lease's duration, which is longer than an attempt. If a node dies, other nodes send its
 * deliveries after this time.
 */
const leaseMs = 25_000

/** How often to look for deliveries that other nodes have written. */
const pollMs = 1_000

/** Sends deliveries, one at a time per channel. */
export class Sender extends Context.Service<Sender>()(
  "@scheduling/server/notifications/sending/Sender",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const clock = Effect.orDie((yield* StoreClock)(sql))
      const pauseChannel = yield* PauseChannel
      const repo = yield* DeliveriesRepo
      const transport = yield* Transport
      const countResult = (yield* Meters).counts(
        "scheduling_notifications_total",
        "Attempts to deliver a notification: `again` is retried, `never` was rejected.",
        "outcome",
        ["delivered", "again", "never"]
      )
      const connections = {
        alerts: yield* Semaphore.make(alertLimits.connections),
        callbacks: yield* Semaphore.make(callbackLimits.connections)
      }
      /**
       * The lane that each queue's latest claim reached. The next claim continues after this lane,
       * because one statement may not reach all lanes.
       */
      const afterLane = new Map<SendingLimits, string>()

      const record = Effect.fnUntraced(function* (
        delivery: ClaimedDelivery,
        result: Effect.Success<ReturnType<Transport["Service"]["send"]>>
      ) {
        const now = yield* clock
        const attempt = decideAfterAttempt(delivery, result, now, yield* Random.next)
        // If the lease was lost, another node sends the delivery again, and nothing is recorded
        // here.
        if (!(yield* repo.record(delivery, attempt))) return
        const { channel_id, channel_kind, channel_name, id, workspace_id } = delivery
        if (channel_id === null || channel_kind === "callback") return
        countResult(result.outcome)
        if (!result.gone) return
        const channel = {
          id: channel_id,
          workspace_id,
          name: channel_name ?? "",
          kind: channel_kind
        }
        yield* pauseChannel(channel, result.error ?? "gone", id, now)
      }, transaction)

      const claim = Effect.fn("Sender.claim")(function* (
        limits: SendingLimits,
        underWay: ReadonlyArray<ClaimedDelivery>
      ) {
        const limit = limits.maxInProgress - underWay.length
        if (limit <= 0) return []
        const now = yield* clock
        const shareOf = ({ share }: ClaimedDelivery) => share
        const failing = underWay.filter(({ failures }) => failures > 0)
        const { claimed, reached } = yield* repo.claim({
          callbacks: limits.callbacks,
          now,
          lease_until: new Date(now.getTime() + leaseMs),
          limit,
          per_lane: maxPerLane,
          after_lane: afterLane.get(limits) ?? firstLane,
          except: keysWithCount(underWay, limits.maxPerShare, shareOf),
          except_failing: keysWithCount(failing, limits.maxFailingPerShare, shareOf),
          except_targets: keysWithCount(underWay, limits.maxPerTarget, ({ target }) => target ?? "")
        })
        afterLane.set(limits, reached ?? firstLane)
        return claimed
      })

      const send = Effect.fn("Sender.send")(function* (delivery: ClaimedDelivery) {
        const isEmpty = delivery.begun + delivery.ended + delivery.other === 0
        const result = yield* transport.send({
          delivery_id: delivery.id,
          workspace_id: delivery.workspace_id,
          channel_id: delivery.channel_id,
          kind: delivery.channel_kind,
          config: delivery,
          message: isEmpty ? "confirmation" : messageOf(delivery),
          attempt: delivery.attempts_count,
          timeout_seconds: timeoutSeconds
        })
        const permits = delivery.channel_id === null ? connections.callbacks : connections.alerts
        yield* permits.withPermit(record(delivery, result))
      })

      /**
       * Returns the time until the next stored delivery is due. The caller must poll during this
       * time, because another node may store an earlier delivery.
       */
      const idleMs = Effect.fnUntraced(function* (limits: SendingLimits) {
        const next = yield* repo.findNextAt(limits.callbacks)
        if (next === null) return Number.POSITIVE_INFINITY
        return Math.max(0, next.getTime() - (yield* clock).getTime())
      })

      return { claim, send, idleMs }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

/**
 * Sends deliveries in the background. While alerts use the node's whole limit, no callback starts.
 * When the node stops, it completes the deliveries in progress. Returns a function that wakes the
 * loops.
 */
export const runSender = Effect.gen(function* () {
  const forAlerts = yield* sendQueue("sending notifications", alertLimits, () => true)
  const forCallbacks = yield* sendQueue(
    "sending callbacks",
    callbackLimits,
    () => forAlerts.underWay() < alertLimits.maxInProgress
  )
  return () => {
    forAlerts.waker.wake()
    forCallbacks.waker.wake()
  }
})

const sendQueue = Effect.fnUntraced(function* (
  loopName: string,
  limits: SendingLimits,
  mayBegin: () => boolean
) {
  const sender = yield* Sender
  const waker = new Waker()
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const underWay = new Map<Fiber.Fiber<void>, ClaimedDelivery>()
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => Fiber.awaitAll([...underWay.keys()])).pipe(
      Effect.timeout("15 seconds"),
      Effect.ignore
    )
  )

  const sendSome = Effect.gen(function* () {
    const claimed = mayBegin() ? yield* sender.claim(limits, [...underWay.values()]) : []
    for (const delivery of claimed) {
      const fiber = runFork(
        Effect.catchCause(sender.send(delivery), (cause) =>
          Effect.logWarning(`delivery ${delivery.id} will be retried: ${shortMessage(cause)}`)
        )
      )
      underWay.set(fiber, delivery)
      fiber.addObserver(() => {
        underWay.delete(fiber)
        waker.wake()
      })
    }
    if (claimed.length > 0) return
    const ms = yield* sender.idleMs(limits)
    // If due deliveries were not claimed, either another node has locked them, or their share has
    // reached its limit.
    yield* waker.wait(ms <= 0 ? pollMs / 5 : Math.min(ms, pollMs))
  })
  yield* Effect.forkScoped(loop(loopName, sendSome, stuckRestartOptions))
  return { waker, underWay: () => underWay.size }
})

/** Returns the keys that occur in at least `count` items. */
const keysWithCount = <Item, Key>(
  items: ReadonlyArray<Item>,
  count: number,
  keyOf: (item: Item) => Key
): ReadonlyArray<Key> =>
  [...Map.groupBy(items, keyOf)].flatMap(([key, own]) => (own.length >= count ? [key] : []))
