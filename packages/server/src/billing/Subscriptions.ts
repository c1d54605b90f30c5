import {
  BillingDisabled,
  type BillingUnavailable,
  type PaymentFailed
} from "@scheduling/domain/billing/BillingErrors"
import type { Invoice } from "@scheduling/domain/billing/Billing"
import type { Price } from "@scheduling/domain/billing/Plan"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Conflict, type ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type Stripe from "stripe"
import { type Actor, AuditLog } from "../accounts/index.ts"
import { AppConfig } from "../core/index.ts"
import { chooseSubscription, isInactiveSubscription } from "./chooseSubscription.ts"
import {
  callStripe,
  findCurrentSubscription,
  expireCheckout,
  listSubscriptions,
  releaseSubscriptionSchedule,
  schedulePriceChange
} from "./stripeRequests.ts"
import { makePriceLookup } from "./makePriceLookup.ts"
import { toInvoice } from "./toInvoice.ts"
import { type StripeConnection, PaymentProvider } from "./PaymentProvider.ts"
import { type SubscriptionRow, SubscriptionsRepo } from "./SubscriptionsRepo.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

type Refused = BillingDisabled | BillingUnavailable | Conflict

/**
 * Lets owners change their subscription. The provider is the source of truth, so the subscription
 * is read from there after each change.
 */
export class Subscriptions extends Context.Service<
  Subscriptions,
  {
    readonly checkout: (
      workspaceId: AuthorizedWorkspaceId,
      price: string,
      actor: Actor
    ) => Effect.Effect<string, Refused | ValidationFailed>
    readonly portal: (
      workspaceId: AuthorizedWorkspaceId,
      actor: Actor
    ) => Effect.Effect<string, Refused>
    readonly change: (
      workspaceId: AuthorizedWorkspaceId,
      price: string,
      actor: Actor
    ) => Effect.Effect<void, Refused | PaymentFailed | ValidationFailed>
    readonly cancel: (
      workspaceId: AuthorizedWorkspaceId,
      actor: Actor
    ) => Effect.Effect<void, Refused>
    readonly resume: (
      workspaceId: AuthorizedWorkspaceId,
      actor: Actor
    ) => Effect.Effect<void, Refused | PaymentFailed>
    readonly invoices: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<ReadonlyArray<Invoice>, BillingDisabled | BillingUnavailable>
  }
>()("@scheduling/server/billing/Subscriptions") {
  static readonly layer: Layer.Layer<
    Subscriptions,
    never,
    AppConfig | AuditLog | PaymentProvider | SubscriptionsRepo | SubscriptionSync
  > = Layer.effect(
    Subscriptions,
    Effect.gen(function* () {
      const { plans: catalog, publicUrl } = yield* AppConfig
      const audit = yield* AuditLog
      const provider = yield* PaymentProvider
      const repo = yield* SubscriptionsRepo
      const sync = yield* SubscriptionSync
      const prices = makePriceLookup(catalog)

      const open: Effect.Effect<StripeConnection, BillingDisabled> = Effect.suspend(() =>
        provider.stripe === null
          ? Effect.fail(new BillingDisabled())
          : Effect.succeed(provider.stripe)
      )

      const record = (
        action: AuditEvent["action"],
        workspaceId: AuthorizedWorkspaceId,
        { origin, user_id }: Actor,
        details: Readonly<Record<string, unknown>> = {}
      ) =>
        audit.recordInWorkspace(action, workspaceId, {
          actor_id: user_id,
          subject_id: workspaceId,
          origin,
          details
        })

      const find = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
        const row = Option.getOrUndefined(yield* repo.find(workspaceId))
        return row ?? (yield* noSubscription)
      })

      /**
       * Runs a change while the subscription is reserved, so that no other request, on any node,
       * changes it at the same time.
       */
      const runAlone = <A, E>(
        workspaceId: AuthorizedWorkspaceId,
        change: (row: SubscriptionRow, stripe: StripeConnection) => Effect.Effect<A, E>
      ) =>
        Effect.gen(function* () {
          const stripe = yield* open
          yield* find(workspaceId)
          const now = yield* DateTime.nowAsDate
          const held = yield* repo.hold(workspaceId, now, new Date(now.getTime() + reservationMs))
          if (Option.isNone(held)) {
            return yield* new Conflict({
              resource: "subscription",
              message: "Another request is changing the subscription. Try again in a moment."
            })
          }
          return yield* Effect.ensuring(change(held.value, stripe), repo.release(workspaceId))
        })

      const changeCurrent = <E>(
        workspaceId: AuthorizedWorkspaceId,
        written: Effect.Effect<void>,
        change: (
          current: Stripe.Subscription,
          stripe: StripeConnection
        ) => Effect.Effect<unknown, E>
      ) =>
        runAlone(
          workspaceId,
          Effect.fnUntraced(function* (row, stripe) {
            const current = yield* findCurrentSubscription(row, stripe)
            if (current === undefined || isInactiveSubscription(current))
              return yield* noSubscription
            yield* change(current, stripe)
            yield* written
            yield* sync.syncNow(workspaceId)
          })
        )

      /**
       * Creates the provider's customer for a workspace that has none. If several nodes try this,
       * the idempotency key prevents a second customer.
       */
      const withCustomer = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        stripe: StripeConnection
      ) {
        if (Option.isSome(yield* repo.find(workspaceId))) return
        const { id } = yield* callStripe(stripe, (api) =>
          api.customers.create(
            { metadata: { workspace_id: workspaceId } },
            { idempotencyKey: `customer of ${workspaceId}` }
          )
        )
        yield* repo.insert(workspaceId, id, yield* DateTime.nowAsDate)
      })

      return Subscriptions.of({
        checkout: Effect.fn("Subscriptions.checkout")(function* (workspaceId, priceId, actor) {
          const stripe = yield* open
          const price = yield* prices.findForSale(workspaceId, priceId)
          yield* withCustomer(workspaceId, stripe)
          return yield* runAlone(
            workspaceId,
            Effect.fnUntraced(function* ({ checkout_id, customer_id }) {
              const { data } = yield* listSubscriptions(customer_id, stripe)
              const { chosen } = chooseSubscription(data)
              if (chosen !== undefined && !isInactiveSubscription(chosen)) {
                return yield* new Conflict({
                  resource: "subscription",
                  message: "The workspace already has a subscription. Change or resume it."
                })
              }
              if (checkout_id !== null) yield* expireCheckout(checkout_id, stripe)
              const trial = data.length === 0 ? price.trial_days : 0
              const back = `${publicUrl}/?workspace=${workspaceId}&checkout=`
              const { id, url } = yield* callStripe(stripe, (api) =>
                api.checkout.sessions.create({
                  mode: "subscription",
                  customer: customer_id,
                  client_reference_id: workspaceId,
                  line_items: [{ price: price.id, quantity: 1 }],
                  success_url: `${back}done`,
                  cancel_url: `${back}cancelled`,
                  subscription_data: {
                    metadata: { workspace_id: workspaceId },
                    ...(trial === 0 ? {} : { trial_period_days: trial })
                  }
                })
              )
              yield* repo.updateCheckout(workspaceId, id)
              yield* record("billing.checkout_started", workspaceId, actor, { price: price.id })
              return url ?? ""
            })
          )
        }),

        portal: Effect.fn("Subscriptions.portal")(function* (workspaceId, actor) {
          const stripe = yield* open
          const { customer_id } = yield* find(workspaceId)
          const { url } = yield* callStripe(stripe, (api) =>
            api.billingPortal.sessions.create({
              customer: customer_id,
              return_url: `${publicUrl}/`
            })
          )
          yield* record("billing.portal_opened", workspaceId, actor)
          return url
        }),

        change: Effect.fn("Subscriptions.change")(function* (workspaceId, priceId, actor) {
          yield* open
          const price = yield* prices.findForSale(workspaceId, priceId)
          yield* changeCurrent(
            workspaceId,
            record("billing.plan_changed", workspaceId, actor, { price: price.id }),
            Effect.fnUntraced(function* (current, stripe) {
              if (current.status !== "active" && current.status !== "trialing") {
                return yield* new Conflict({
                  resource: "subscription",
                  field: "status",
                  message: `The subscription has the status ${current.status}. Pay the open invoice before you change it.`
                })
              }
              const [item] = current.items.data
              const paid = prices.get(item?.price.id)
              yield* releaseSubscriptionSchedule(current, stripe)
              if (item === undefined || item.price.id === price.id) return
              const isAtOnce =
                current.status === "trialing" ||
                paid === undefined ||
                monthly(price) >= monthly(paid)
              if (!isAtOnce) return yield* schedulePriceChange(current, item, price, stripe)
              yield* stripe.ask((api) =>
                api.subscriptions.update(current.id, {
                  items: [{ id: item.id, price: price.id }],
                  proration_behavior: "always_invoice",
                  payment_behavior: "error_if_incomplete"
                })
              )
            })
          )
        }),

        cancel: Effect.fn("Subscriptions.cancel")(function* (workspaceId, actor) {
          yield* changeCurrent(
            workspaceId,
            record("billing.cancelled", workspaceId, actor),
            Effect.fnUntraced(function* (current, stripe) {
              yield* releaseSubscriptionSchedule(current, stripe)
              if (current.cancel_at_period_end) return
              yield* callStripe(stripe, (api) =>
                api.subscriptions.update(current.id, { cancel_at_period_end: true })
              )
            })
          )
        }),

        resume: Effect.fn("Subscriptions.resume")(function* (workspaceId, actor) {
          yield* changeCurrent(
            workspaceId,
            record("billing.resumed", workspaceId, actor),
            Effect.fnUntraced(function* (current, stripe) {
              if (current.status === "paused") {
                return yield* stripe.ask((api) =>
                  api.subscriptions.resume(current.id, { billing_cycle_anchor: { type: "now" } })
                )
              }
              if (current.cancel_at_period_end) {
                return yield* callStripe(stripe, (api) =>
                  api.subscriptions.update(current.id, { cancel_at_period_end: false })
                )
              }
              if (current.schedule !== null)
                return yield* releaseSubscriptionSchedule(current, stripe)
              return yield* new Conflict({
                resource: "subscription",
                field: "status",
                message:
                  "The subscription is neither cancelled nor paused, so there is nothing to resume."
              })
            })
          )
        }),

        invoices: Effect.fn("Subscriptions.invoices")(function* (workspaceId) {
          const stripe = yield* open
          const row = Option.getOrUndefined(yield* repo.find(workspaceId))
          if (row === undefined) return []
          const { data } = yield* callStripe(stripe, (api) =>
            api.invoices.list({ customer: row.customer_id, limit: 100 })
          )
          return data.map(toInvoice)
        })
      })
    })
  )
}

/**
 * How long a change reserves the subscription. It is longer than all of the change's requests to
 * the provider can take, including their retries.
 */
const reservationMs = 2 * 60 * 1_000

const monthly = ({ amount, interval }: Price) => (interval === "year" ? amount / 12 : amount)

const noSubscription = Effect.suspend(() =>
  Effect.fail(
    new Conflict({
      resource: "subscription",
      message: "The workspace has no subscription. Start one with checkout."
    })
  )
)
