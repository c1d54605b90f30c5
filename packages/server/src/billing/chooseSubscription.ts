import type Stripe from "stripe"

/**
 * The subscription that counts, of all that a customer ever had: the oldest live one, otherwise the
 * one that ended last. Further live ones are surplus, such as the second of two that were bought at
 * once, because nobody should pay twice.
 */
export const chooseSubscription = (
  subscriptions: ReadonlyArray<Stripe.Subscription>
): {
  readonly chosen: Stripe.Subscription | undefined
  readonly surplus: ReadonlyArray<Stripe.Subscription>
} => {
  const byAge = subscriptions.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
  const [oldest, ...surplus] = byAge.filter(({ status }) => !notBought.has(status))
  return { chosen: oldest ?? byAge.at(-1), surplus }
}

/** Ended, or not paid yet: an unpaid one ends by itself within 23 hours. */
const notBought: ReadonlySet<string> = new Set(["canceled", "incomplete", "incomplete_expired"])

export const isOver = ({ status }: Pick<Stripe.Subscription, "status">) => notBought.has(status)

/** The stored part of a subscription. */
export interface SubscriptionState {
  readonly subscription_id: string | null
  readonly status: string | null
  readonly price_id: string | null
  readonly next_price_id: string | null
  readonly period_end: Date | null
  readonly cancel_at: Date | null
}

export const subscriptionState = (
  subscription: Stripe.Subscription | undefined
): SubscriptionState => {
  if (subscription === undefined) return noSubscription
  const [item] = subscription.items.data
  const period_end = dateOf(item?.current_period_end)
  return {
    subscription_id: subscription.id,
    status: subscription.status,
    price_id: item?.price.id ?? null,
    next_price_id: nextPriceOf(subscription),
    period_end,
    cancel_at:
      dateOf(subscription.cancel_at) ?? (subscription.cancel_at_period_end ? period_end : null)
  }
}

const noSubscription: SubscriptionState = {
  subscription_id: null,
  status: null,
  price_id: null,
  next_price_id: null,
  period_end: null,
  cancel_at: null
}

const dateOf = (seconds: number | null | undefined) =>
  seconds == null ? null : new Date(seconds * 1_000)

/** The price of the next phase, if a schedule has one. */
const nextPriceOf = ({ schedule }: Stripe.Subscription): string | null => {
  if (schedule === null || typeof schedule === "string") return null
  const { current_phase, phases } = schedule
  const next = phases.find(({ start_date }) => start_date >= (current_phase?.end_date ?? Infinity))
  const price = next?.items[0]?.price
  return price === undefined ? null : typeof price === "string" ? price : price.id
}
