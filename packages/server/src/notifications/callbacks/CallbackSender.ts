import { Context, Effect, Layer, Random, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { StoreClock, transactionOf } from "../../store/index.ts"
import type { ChannelResult } from "../Kind.ts"
import { messageOf } from "../Message.ts"
import { firstLane } from "../sending/laneWalk.ts"
import { leaseMs, timeoutSeconds } from "../sending/Sender.ts"
import { Transmitter } from "../sending/Transmitter.ts"
import { waitMs } from "../sending/waits.ts"
import {
  type CallbackClaim,
  type ClaimedCallback,
  CallbackSenderRepo
} from "./CallbackSenderRepo.ts"

/**
 * Limits per node, per share, per URL, and per newly found lane. They are apart from those of
 * alerts.
 */
export const maxSending = 32
export const maxSendingOfShare = 8
export const maxSendingTo = 4
const maxClaimedOfLane = 4

/** Tells the call-backs of tasks. In no order, because each is about one run. */
export class CallbackSender extends Context.Service<
  CallbackSender,
  {
    readonly claim: (
      options: Pick<CallbackClaim, "limit" | "except" | "except_targets">
    ) => Effect.Effect<ReadonlyArray<ClaimedCallback>>
    /** Sends one and writes down what came of it. */
    readonly send: (callback: ClaimedCallback) => Effect.Effect<void>
    /** How long until something is due, as far as is known now. */
    readonly idleMs: Effect.Effect<number>
  }
>()("@scheduling/server/notifications/callbacks/CallbackSender") {
  static readonly layer: Layer.Layer<
    CallbackSender,
    never,
    CallbackSenderRepo | SqlClient.SqlClient | Transmitter
  > = Layer.effect(
    CallbackSender,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = Effect.orDie((yield* StoreClock)(sql))
      const repo = yield* CallbackSenderRepo
      const transmitter = yield* Transmitter
      /** Of the pool that requests wait for too, beside those of alerts. */
      const connection = yield* Semaphore.make(1)
      /** Lanes take turns where there are more of them than one statement visits. */
      let afterLane = firstLane

      const record = Effect.fnUntraced(function* (
        callback: ClaimedCallback,
        verdict: ChannelResult
      ) {
        const now = yield* clock
        yield* repo.update(outcomeOf(callback, verdict, now, yield* Random.next))
      }, transactionOf(sql))

      return CallbackSender.of({
        claim: Effect.fn("CallbackSender.claim")(function* (options) {
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

        send: Effect.fn("CallbackSender.send")(function* (callback) {
          const verdict = yield* transmitter.send({
            id: callback.id,
            channel: {
              id: callback.id,
              workspace_id: callback.workspace_id,
              kind: "webhook",
              config: { url: callback.target },
              sealed_secrets: ""
            },
            message: messageOf(callback),
            attempt: callback.attempts_count,
            timeout_seconds: timeoutSeconds
          })
          yield* connection.withPermit(record(callback, verdict))
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

const outcomeOf = (callback: ClaimedCallback, verdict: ChannelResult, now: Date, dice: number) => {
  const base = { callback, verdict, now, due_at: now }
  if (verdict.outcome === "delivered") return { ...base, status: "delivered" as const }
  if (verdict.outcome === "never") return { ...base, status: "failed" as const }
  const pauseMs =
    verdict.after_seconds === null
      ? waitMs(callback.attempts_count, dice)
      : verdict.after_seconds * 1_000
  const due_at = new Date(now.getTime() + pauseMs)
  return due_at < callback.give_up_at
    ? { ...base, status: "queued" as const, due_at }
    : { ...base, status: "failed" as const }
}
