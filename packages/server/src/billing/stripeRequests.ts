import type { Price } from "@scheduling/domain/billing/Plan"
import { Conflict } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import type Stripe from "stripe"
import { chooseSubscription } from "./chooseSubscription.ts"
import type { StripeConnection } from "./PaymentProvider.ts"
import type { SubscriptionRow } from "./SubscriptionsRepo.ts"

/** Sends a request that does not charge a card, and therefore cannot fail with `PaymentFailed`. */
export const callStripe = <A>(stripe: StripeConnection, question: (api: Stripe) => Promise<A>) =>
  Effect.catchTag(stripe.ask(question), "PaymentFailed", Effect.die)

export const listSubscriptions = (customer: string, stripe: StripeConnection) =>
  callStripe(stripe, (api) =>
    api.subscriptions.list({ customer, status: "all", limit: 100, expand: ["data.schedule"] })
  )

export const findCurrentSubscription = (
  { customer_id }: SubscriptionRow,
  stripe: StripeConnection
) =>
  Effect.map(listSubscriptions(customer_id, stripe), ({ data }) => chooseSubscription(data).chosen)

export const expireCheckout = (checkoutId: string, stripe: StripeConnection) =>
  Effect.gen(function* () {
    const { status } = yield* callStripe(stripe, (api) =>
      api.checkout.sessions.retrieve(checkoutId)
    )
    if (status === "open")
      yield* callStripe(stripe, (api) => api.checkout.sessions.expire(checkoutId))
  })

export const releaseSubscriptionSchedule = (
  { schedule }: Stripe.Subscription,
  stripe: StripeConnection
) =>
  schedule === null
    ? Effect.void
    : callStripe(stripe, (api) =>
        api.subscriptionSchedules.release(typeof schedule === "string" ? schedule : schedule.id)
      )

/**
 * Schedules the change to a lower price for the end of the billing period, because the current
 * period is already paid at the higher price.
 */
export const schedulePriceChange = Effect.fnUntraced(function* (
  { cancel_at_period_end, id }: Stripe.Subscription,
  item: Stripe.SubscriptionItem,
  price: Price,
  stripe: StripeConnection
) {
  if (cancel_at_period_end) {
    return yield* new Conflict({
      resource: "subscription",
      field: "status",
      message:
        "The subscription will be cancelled at the end of the billing period. Resume it before you change it."
    })
  }
  const schedule = yield* callStripe(stripe, (api) =>
    api.subscriptionSchedules.create({ from_subscription: id })
  )
  yield* callStripe(stripe, (api) =>
    api.subscriptionSchedules.update(schedule.id, {
      end_behavior: "release",
      proration_behavior: "none",
      phases: [
        {
          items: [{ price: item.price.id, quantity: 1 }],
          start_date: item.current_period_start,
          end_date: item.current_period_end
        },
        {
          items: [{ price: price.id, quantity: 1 }],
          start_date: item.current_period_end,
          duration: { interval: price.interval, interval_count: 1 }
        }
      ]
    })
  )
})
