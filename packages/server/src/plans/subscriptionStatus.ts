import { dayMs } from "../core/index.ts"

/** How many days late a payment can be before the plan ends. */
export const graceDays = 7

export interface SubscriptionStatus {
  /** True if the bought plan applies. Otherwise the default plan applies. */
  readonly holds: boolean
  /** When the bought plan ends if nobody pays. Null if it does not end. */
  readonly until: Date | null
}

/**
 * Decides whether a subscription gives its plan. A status that this version does not know does not:
 *
 * | status | the bought plan |
 * |---|---|
 * | `trialing`, `active` | holds, also when it was cancelled and the period has not ended |
 * | `past_due` | holds for 7 days, while the payment is tried again |
 * | `unpaid` | does not hold: all tries failed |
 * | `incomplete`, `incomplete_expired` | does not hold: the first payment was not made |
 * | `paused` | does not hold: the trial ended without a card, or somebody paused it |
 * | `canceled` | does not hold |
 */
export const subscriptionStatusOf = (
  { past_due_since, status }: { readonly status: string; readonly past_due_since: Date | null },
  now: Date
): SubscriptionStatus => {
  if (status === "active" || status === "trialing") return { holds: true, until: null }
  if (status !== "past_due" || past_due_since === null) return { holds: false, until: null }
  const until = new Date(past_due_since.getTime() + graceDays * dayMs)
  return now < until ? { holds: true, until } : { holds: false, until: null }
}
