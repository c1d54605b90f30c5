import { Context, Effect, Layer, Random, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { StoreClock, transactionOf } from "../../store/index.ts"
import { Disabling } from "../channels/Disabling.ts"
import { messageOf } from "../Message.ts"
import { outcomeOf } from "./outcome.ts"
import { Meters } from "../../core/index.ts"
import type { Claimed } from "./Claimed.ts"
import { firstLane } from "./laneWalk.ts"
import { type ClaimOptions, SenderRepo } from "./SenderRepo.ts"
import { Transmitter } from "./Transmitter.ts"

/** Limits per node, per share, and per newly found lane. */
export const maxSending = 128
export const maxSendingOfShare = 16
/** Of a share to channels that failed lately: when a provider hangs, the other channels have the rest. */
export const maxFailingOfShare = 8
const maxClaimedOfLane = 4

export const timeoutSeconds = 10

/** Longer than an attempt takes: a node that died is not waited for any longer. */
export const leaseMs = 25_000

/** Sends what waits, one message at a time to each channel. */
export class Sender extends Context.Service<
  Sender,
  {
    /** Leases channels that have something to send. */
    readonly claim: (
      options: Pick<ClaimOptions, "limit" | "except" | "except_failing">
    ) => Effect.Effect<ReadonlyArray<Claimed>>
    /** Sends one message and writes down what came of it. */
    readonly send: (claimed: Claimed) => Effect.Effect<void>
    /** How long until something is due, as far as is known now. */
    readonly idleMs: Effect.Effect<number>
  }
>()("@scheduling/server/notifications/sending/Sender") {
  static readonly layer: Layer.Layer<
    Sender,
    never,
    Disabling | SenderRepo | SqlClient.SqlClient | Transmitter
  > = Layer.effect(
    Sender,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const clock = Effect.orDie((yield* StoreClock)(sql))
      const disabling = yield* Disabling
      const repo = yield* SenderRepo
      const sent = (yield* Meters).counts(
        "scheduling_notifications_total",
        "Attempts to deliver a notification: `again` is tried again, `never` was refused.",
        "outcome",
        ["delivered", "again", "never"]
      )
      const transmitter = yield* Transmitter
      /** Of the pool that requests wait for too, however many messages end at once. */
      const connections = yield* Semaphore.make(2)
      /** Lanes take turns where there are more of them than one statement visits. */
      let afterLane = firstLane

      const record = Effect.fnUntraced(function* (
        claimed: Claimed,
        verdict: Effect.Success<ReturnType<Transmitter["Service"]["send"]>>
      ) {
        const now = yield* clock
        const outcome = outcomeOf(claimed, verdict, now, yield* Random.next)
        // Another node has the channel by now, and sends it again.
        if (!(yield* repo.update(outcome))) return
        sent(verdict.outcome)
        if (verdict.gone) {
          const { channel, delivery } = claimed
          yield* disabling.disable(channel, verdict.error ?? "gone", delivery.id, now)
        }
      }, transaction)

      return Sender.of({
        claim: Effect.fn("Sender.claim")(function* (options) {
          const now = yield* clock
          const { claimed, reached } = yield* repo.claim({
            ...options,
            now,
            lease_until: new Date(now.getTime() + leaseMs),
            per_lane: maxClaimedOfLane,
            after_lane: afterLane
          })
          afterLane = reached ?? firstLane
          return claimed
        }),

        send: Effect.fn("Sender.send")(function* (claimed) {
          const { channel, delivery } = claimed
          const told = {
            ...delivery,
            workspace_id: channel.workspace_id,
            workspace_name: channel.workspace_name
          }
          const isEmpty = delivery.begun + delivery.ended + delivery.other === 0
          const verdict = yield* transmitter.send({
            id: delivery.id,
            channel,
            message: isEmpty ? "confirmation" : messageOf(told),
            attempt: delivery.attempts_count,
            timeout_seconds: timeoutSeconds
          })
          yield* connections.withPermit(record(claimed, verdict))
        }),

        idleMs: Effect.gen(function* () {
          const next = yield* repo.findNextAt
          if (next === null) return Number.POSITIVE_INFINITY
          return Math.max(0, next.getTime() - (yield* clock).getTime())
        })
      })
    })
  )
}
