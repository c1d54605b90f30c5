import { Schema } from "effect"

export const StripeKey = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isPattern(/^[sr]k_(?:test|live)_\w+$/, {
      expected: "a key that starts with sk_live_, sk_test_, rk_live_ or rk_test_"
    })
  ),
  { label: "STRIPE_SECRET_KEY" }
)

export const StripeWebhookSecret = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.isPattern(/^whsec_\S+$/, { expected: "a secret that starts with whsec_" })
  ),
  { label: "STRIPE_WEBHOOK_SECRET" }
)

/**
 * Returns an error message if `STRIPE_SECRET_KEY` is set, but other settings for billing are
 * missing.
 */
export const stripeProblem = (config: {
  readonly stripeSecretKey: unknown
  readonly stripeWebhookSecrets: ReadonlyArray<unknown>
  readonly publicUrl: string | undefined
}): string | undefined =>
  config.stripeSecretKey !== undefined &&
  (config.stripeWebhookSecrets.length === 0 || config.publicUrl === undefined)
    ? "STRIPE_SECRET_KEY needs STRIPE_WEBHOOK_SECRET, which verifies webhooks, and PUBLIC_URL, to which users return from Stripe"
    : undefined
