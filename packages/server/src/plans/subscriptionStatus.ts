import { dayMs } from "../core/index.ts"

/** How many days a payment can be overdue before the plan ends. */
export const paymentGraceDays = 7

/** Whether a purchased plan applies, and until when. */
export interface SubscriptionStatus {
  /** True if the purchased plan applies. Otherwise the default plan applies. */
  readonly holds: boolean
  /** When the purchased plan will end unless it is paid. Null if it will not end. */
  readonly until: Date | null
}

/**
 * Decides whether the purchased plan of a subscription applies. It does not apply for a status that
 * this version does not know.
 *
 * | status | the purchased plan |
 * |---|---|
 * | `trialing`, `active` | applies, also until the end of the period after a cancellation |
 * | `past_due` | applies for 7 days, while the payment is retried |
 * | `unpaid` | does not apply: all retries failed |
 * | `incomplete`, `incomplete_expired` | does not apply: the first payment was not made |
 * | `paused` | does not apply: the trial ended without a card, or the subscription was paused |
 * | `canceled` | does not apply |
 */
export const subscriptionStatusOf = (
  { past_due_since, status }: { readonly status: string; readonly past_due_since: Date | null },
  now: Date
): SubscriptionStatus => {
  if (status === "active" || status === "trialing") return { holds: true, until: null }
  if (status !== "past_due" || past_due_since === null) return { holds: false, until: null }
  const until = new Date(past_due_since.getTime() + paymentGraceDays * dayMs)
  return now < until ? { holds: true, until } : { holds: false, until: null }
}
