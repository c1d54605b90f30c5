import type { BillingUnavailable } from "@scheduling/domain/billing/BillingErrors"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../accounts/index.ts"
import { paymentGraceDays } from "../plans/index.ts"
import { PlanEnforcement } from "./PlanEnforcement.ts"
import { dayMs, loop, Waker } from "../core/index.ts"
import { transactionOf } from "../store/index.ts"
import { callStripe, listSubscriptions } from "./stripeRequests.ts"
import {
  chooseSubscription,
  subscriptionState,
  type SubscriptionState
} from "./chooseSubscription.ts"
import { type CustomerHint, type StripeConnection, PaymentProvider } from "./PaymentProvider.ts"
import { type SubscriptionRow, SubscriptionsRepo } from "./SubscriptionsRepo.ts"

/**
 * Keeps the stored subscriptions up to date. A webhook only says which customer has changed, and
 * the subscription is then read from the provider. Webhooks can therefore arrive late, twice or in
 * any order. In case a webhook is lost, each subscription is also read once a day.
 */
export class SubscriptionSync extends Context.Service<
  SubscriptionSync,
  {
    /** Marks the subscription of the webhook's customer as due to be read from the provider. */
    readonly noteHint: (hint: CustomerHint) => Effect.Effect<void>
    readonly syncNow: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<void, BillingUnavailable>
    /** Reads the due subscriptions, and returns how many were read. */
    readonly syncDue: Effect.Effect<number>
    readonly waker: Waker
  }
>()("@scheduling/server/billing/SubscriptionSync") {
  static readonly layer: Layer.Layer<
    SubscriptionSync,
    never,
    AuditLog | PlanEnforcement | PaymentProvider | SqlClient.SqlClient | SubscriptionsRepo
  > = Layer.effect(
    SubscriptionSync,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const enforcement = yield* PlanEnforcement
      const provider = yield* PaymentProvider
      const repo = yield* SubscriptionsRepo
      const waker = new Waker()

      const cancelAll = (stripe: StripeConnection, ids: ReadonlyArray<string>) =>
        Effect.forEach(
          ids,
          (id) =>
            callStripe(stripe, (api) =>
              api.subscriptions.cancel(id, { prorate: true, invoice_now: true })
            ),
          { discard: true }
        )

      const write = Effect.fnUntraced(function* (row: SubscriptionRow, state: SubscriptionState) {
        const now = yield* DateTime.nowAsDate
        const past_due_since = state.status === "past_due" ? (row.past_due_since ?? now) : null
        const syncAt = Math.min(
          now.getTime() + dayMs,
          ...(past_due_since === null || past_due_since < graceStart(now)
            ? []
            : [past_due_since.getTime() + paymentGraceDays * dayMs])
        )
        const isWritten = yield* repo.update(row, { ...state, past_due_since }, new Date(syncAt))
        if (!isWritten || !hasChanged(row, state)) return isWritten
        const { price_id, status } = state
        yield* audit.recordInWorkspace("billing.changed", row.workspace_id, {
          actor_id: null,
          subject_id: row.customer_id,
          origin: { ip: null, user_agent: null, request_id: "billing" },
          details: { status, price: price_id, was: row.status, price_was: row.price_id }
        })
        return true
      }, transaction)

      /**
       * Reads and writes a subscription. Returns false if the row has changed since it was read.
       */
      const sync = Effect.fnUntraced(function* (row: SubscriptionRow, stripe: StripeConnection) {
        const { data } = yield* listSubscriptions(row.customer_id, stripe)
        const { chosen, surplus } = chooseSubscription(data)
        yield* cancelAll(
          stripe,
          surplus.map(({ id }) => id)
        )
        const isWritten = yield* write(row, subscriptionState(chosen))
        if (isWritten) yield* enforcement.enforce(row.workspace_id)
        return isWritten
      })

      /** Cancels all of a deleted workspace's subscriptions, so that nobody is charged for them. */
      const end = Effect.fnUntraced(function* (row: SubscriptionRow, stripe: StripeConnection) {
        const { data } = yield* callStripe(stripe, (api) =>
          api.subscriptions.list({ customer: row.customer_id, limit: 100 })
        )
        yield* cancelAll(
          stripe,
          data.map(({ id }) => id)
        )
        yield* repo.remove(row)
      })

      return SubscriptionSync.of({
        waker,

        noteHint: Effect.fn("SubscriptionSync.noteHint")(function* ({ customer_id, id }) {
          const now = yield* DateTime.nowAsDate
          const isNew = yield* repo.insertEvent(id, now)
          if (isNew && customer_id !== null) yield* repo.updateToStale(customer_id, now)
        }, transaction),

        syncNow: Effect.fn("SubscriptionSync.syncNow")(function* (workspaceId) {
          if (provider.stripe === null) return
          for (let tries = 0; tries < 3; tries++) {
            const row = Option.getOrUndefined(yield* repo.find(workspaceId))
            if (row === undefined || (yield* sync(row, provider.stripe))) return
          }
        }),

        syncDue: Effect.gen(function* () {
          const stripe = provider.stripe
          if (stripe === null) return 0
          const now = yield* DateTime.nowAsDate
          const rows = yield* repo.claim(now, new Date(now.getTime() + retryMs), batch)
          yield* Effect.forEach(
            rows,
            (row) => Effect.ignore(row.is_gone ? end(row, stripe) : sync(row, stripe)),
            { concurrency: 4, discard: true }
          )
          return rows.length
        })
      })
    })
  )
}

/** Syncs subscriptions on every node. Only one node reads a customer at a time. */
export const SubscriptionSyncLayer: Layer.Layer<never, never, PaymentProvider | SubscriptionSync> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      if ((yield* PaymentProvider).stripe === null) return
      const { waker, syncDue } = yield* SubscriptionSync
      yield* Effect.forkScoped(
        loop("reading due subscriptions", syncDue, {
          between: (asked) => (asked === batch ? Effect.void : waker.wait(10_000)),
          pauseAtMost: "1 minute"
        })
      )
    })
  )

const graceStart = (now: Date) => new Date(now.getTime() - paymentGraceDays * dayMs)

/** The delay before a failed read is retried. */
const retryMs = 60 * 1_000
const batch = 20

const hasChanged = (before: SubscriptionState, after: SubscriptionState) =>
  before.status !== after.status ||
  before.price_id !== after.price_id ||
  before.next_price_id !== after.next_price_id ||
  before.cancel_at?.getTime() !== after.cancel_at?.getTime()
