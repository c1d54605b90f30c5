import { Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { StripeAddress } from "../../../src/billing/PaymentProvider.ts"
import { type PlanCatalog, selfHostedPlan } from "../../../src/core/config/plans.ts"
import { eventually } from "../../engine/runner/support/tasks.ts"
import { ask, type Member } from "../../support/http.ts"
import { twoTestNodesLayer, testNow } from "../../support/TestApp.ts"
import { type FakeStripe, pricesInCents, type SentWebhook } from "./FakeStripe.ts"
import { startStripe } from "./startStripe.ts"

export const webhookSecret = "whsec_of_the_stand_in"

const planOf = (id: string, cron_tasks: number, trial_days = 0) => ({
  id,
  name: id,
  trial_days,
  limits: {
    ...selfHostedPlan.limits,
    cron_tasks,
    ...(id === "free" ? { executions_a_month: 100, shortest_interval_seconds: 300 } : {})
  },
  prices:
    id === "free"
      ? []
      : [
          {
            id: `price_${id}`,
            currency: "eur",
            amount: pricesInCents[`price_${id}`] ?? 0,
            interval: "month" as const
          }
        ]
})

const free = planOf("free", 2)

/** Workspaces whose plan was assigned by the operator. */
export const assignedPlans = new Map<string, string>()

export const plans: PlanCatalog = {
  plans: new Map([free, planOf("team", 4, 14), planOf("max", 6)].map((plan) => [plan.id, plan])),
  byDefault: free,
  assigned: assignedPlans
}

export class BillingFixture extends Context.Service<
  BillingFixture,
  { readonly stripe: FakeStripe }
>()("@scheduling/server/test/billing/BillingFixture") {}

/** Two nodes that sell plans, and the fake Stripe. */
export const FixtureLayer = Layer.unwrap(
  Effect.map(startStripe(testNow, webhookSecret), ({ port, stripe }) =>
    Layer.merge(
      twoTestNodesLayer({
        plans,
        stripeSecretKey: Redacted.make("sk_test_stand_in"),
        stripeWebhookSecrets: [Redacted.make(webhookSecret)],
        publicUrl: "https://scheduling.test"
      }).pipe(
        Layer.provide(Layer.succeed(StripeAddress, { host: "127.0.0.1", port, protocol: "http" }))
      ),
      Layer.succeed(BillingFixture, { stripe })
    )
  )
)

export const billingClientOf = (member: Member) => {
  const request = (method: string, path: string, body?: object, at?: "url" | "otherUrl") =>
    ask(method, `${member.workspace}/billing${path}`, {
      token: member.access_token,
      ...(body === undefined ? {} : { body }),
      ...(at === undefined ? {} : { at })
    })
  return {
    get: request("GET", ""),
    invoices: request("GET", "/invoices"),
    portal: request("POST", "/portal"),
    cancel: request("POST", "/cancel"),
    resume: request("POST", "/resume"),
    change: (price: string, at?: "url" | "otherUrl") => request("POST", "/change", { price }, at),
    checkout: (price: string, at?: "url" | "otherUrl") =>
      request("POST", "/checkout", { price }, at)
  }
}

export const checkoutSessionIdOf = (url: string) => url.slice("https://checkout.test/".length)

export const deliverWebhook = ({ body, signature }: SentWebhook, at: "url" | "otherUrl" = "url") =>
  ask("POST", "/v1/billing/webhooks/stripe", {
    at,
    body,
    headers: { "stripe-signature": signature }
  })

/** Polls for up to 30 seconds of real time. */
export const pollUntil = <A, E, R>(
  question: Effect.Effect<A, E, R>,
  holds: (answer: A) => boolean
) => TestClock.withLive(eventually(question, holds, 1_500))
