import type Stripe from "stripe"

/**
 * Chooses the subscription that applies to a customer: the oldest active one, or the newest one if
 * none is active. `SubscriptionSync` cancels further active subscriptions so that nobody pays
 * twice, for example if two were bought at the same time.
 */
export const chooseSubscription = (
  subscriptions: ReadonlyArray<Stripe.Subscription>
): {
  readonly chosen: Stripe.Subscription | undefined
  readonly surplus: ReadonlyArray<Stripe.Subscription>
} => {
  const byAge = subscriptions.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
  const [oldest, ...surplus] = byAge.filter(({ status }) => !inactiveStatuses.has(status))
  return { chosen: oldest ?? byAge.at(-1), surplus }
}

/**
 * The statuses of subscriptions that have ended or were never paid. An `incomplete` subscription
 * awaits its first payment. Stripe lets it expire after 23 hours.
 */
const inactiveStatuses: ReadonlySet<string> = new Set([
  "canceled",
  "incomplete",
  "incomplete_expired"
])

export const isInactiveSubscription = ({ status }: Pick<Stripe.Subscription, "status">) =>
  inactiveStatuses.has(status)

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
  const period_end = toDate(item?.current_period_end)
  return {
    subscription_id: subscription.id,
    status: subscription.status,
    price_id: item?.price.id ?? null,
    next_price_id: findNextPrice(subscription),
    period_end,
    cancel_at:
      toDate(subscription.cancel_at) ?? (subscription.cancel_at_period_end ? period_end : null)
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

const toDate = (seconds: number | null | undefined) =>
  seconds == null ? null : new Date(seconds * 1_000)

const findNextPrice = ({ schedule }: Stripe.Subscription): string | null => {
  if (schedule === null || typeof schedule === "string") return null
  const { current_phase, phases } = schedule
  const next = phases.find(({ start_date }) => start_date >= (current_phase?.end_date ?? Infinity))
  const price = next?.items[0]?.price
  return price === undefined ? null : typeof price === "string" ? price : price.id
}
