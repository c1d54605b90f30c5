import { BillingUnavailable, PaymentFailed } from "@scheduling/domain/billing/BillingErrors"
import { Context, Effect, Layer, Redacted } from "effect"
import type Stripe from "stripe"
import { AppConfig } from "../core/index.ts"

const apiVersion = "2026-10-28.endive"

/** The address of Stripe's API. Null for the client's default. Tests set their own address. */
export const StripeAddress = Context.Reference<Pick<
  Stripe.StripeConfig,
  "host" | "port" | "protocol"
> | null>("@scheduling/server/billing/StripeAddress", { defaultValue: () => null })

/** The customer that a webhook is about. All other data is read from Stripe. */
export interface CustomerHint {
  readonly id: string
  readonly customer_id: string | null
}

export interface StripeConnection {
  readonly ask: <A>(
    question: (stripe: Stripe) => Promise<A>
  ) => Effect.Effect<A, BillingUnavailable | PaymentFailed>
  /**
   * Parses a webhook. Returns undefined if its signature is invalid or its time differs from the
   * current time by more than five minutes.
   */
  readonly readHint: (body: string, signature: string, nowMs: number) => CustomerHint | undefined
}

/**
 * The payment provider. `stripe` is null if no key is configured. Loading the client takes 240 ms, so
 * it is loaded only if there is a key.
 */
export class PaymentProvider extends Context.Service<
  PaymentProvider,
  { readonly stripe: StripeConnection | null }
>()("@scheduling/server/billing/PaymentProvider") {
  static readonly layer: Layer.Layer<PaymentProvider, never, AppConfig> = Layer.effect(
    PaymentProvider,
    Effect.gen(function* () {
      const { stripeSecretKey, stripeWebhookSecrets } = yield* AppConfig
      if (stripeSecretKey === undefined) return PaymentProvider.of({ stripe: null })
      const address = yield* StripeAddress
      const { default: StripeClient } = yield* Effect.promise(() => import("stripe"))
      const stripe = new StripeClient(Redacted.value(stripeSecretKey), {
        apiVersion,
        maxNetworkRetries: 2,
        timeout: 10_000,
        telemetry: false,
        ...(address === null
          ? {}
          : { ...address, httpClient: StripeClient.createFetchHttpClient() })
      })
      const { errors, webhooks } = StripeClient

      return PaymentProvider.of({
        stripe: {
          ask: (question) =>
            Effect.tryPromise({
              try: () => question(stripe),
              catch: (error) =>
                error instanceof errors.StripeCardError
                  ? new PaymentFailed()
                  : new BillingUnavailable({ retry_after: 5, message: String(error) })
            }).pipe(
              Effect.catchTag("BillingUnavailable", ({ message }) =>
                Effect.andThen(
                  Effect.logWarning(
                    `cannot reach the payment provider, or it rejected the request: ${message}`
                  ),
                  Effect.fail(new BillingUnavailable({ retry_after: 5 }))
                )
              )
            ),

          readHint: (body, signature, nowMs) => {
            if (signedAt(signature) > nowMs + toleranceSeconds * 1_000) return undefined
            for (const secret of stripeWebhookSecrets) {
              try {
                return toHint(
                  webhooks.constructEvent(
                    body,
                    signature,
                    Redacted.value(secret),
                    toleranceSeconds,
                    undefined,
                    nowMs
                  )
                )
              } catch {
                // The signature does not match this secret. The next secret is tried.
              }
            }
            return undefined
          }
        }
      })
    })
  )
}

const toleranceSeconds = 300

/**
 * Returns the time in the signature. The caller must reject a time in the future, because Stripe's
 * client accepts it.
 */
const signedAt = (signature: string): number =>
  Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature)?.[1] ?? Infinity) * 1_000

const toHint = ({ data, id }: Stripe.Event): CustomerHint => {
  const about = data.object as {
    readonly id?: string
    readonly object?: string
    readonly customer?: string | { readonly id: string } | null
  }
  const customer = about.object === "customer" ? about.id : about.customer
  return {
    id,
    customer_id: typeof customer === "object" ? (customer?.id ?? null) : (customer ?? null)
  }
}
