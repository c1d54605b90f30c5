import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, statusAndError, signUp } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import {
  billingClientOf,
  deliverWebhook,
  FixtureLayer,
  checkoutSessionIdOf,
  BillingFixture,
  pollUntil
} from "./support/fixture.ts"

const path = "/v1/billing/webhooks/stripe"

layer(FixtureLayer, { timeout: "60 seconds" })("a webhook", (it) => {
  it.effect("is accepted only with a valid signature that is at most five minutes old", () =>
    Effect.gen(function* () {
      const { stripe } = yield* BillingFixture
      const event = {
        id: "evt_mine",
        object: "event",
        data: { object: { object: "customer", id: "cus_x" } }
      }
      const now = yield* TestClock.testClockWith((clock) =>
        Effect.succeed(clock.currentTimeMillisUnsafe())
      )
      const good = stripe.sign(event, now)
      const minute = 60_000
      const bad = [
        { ...good, signature: "" },
        { ...good, signature: "t=,v1=" },
        { ...good, signature: good.signature.replace("t=", "t=9") },
        { ...good, signature: good.signature.slice(0, -1) },
        { ...good, signature: good.signature.replace("v1=", "v0=") },
        { ...good, body: good.body.replace("cus_x", "cus_y") },
        { ...good, body: `${good.body} ` },
        { ...good, body: "" },
        stripe.sign(event, now, "whsec_of_somebody_else"),
        stripe.sign(event, now - 6 * minute),
        stripe.sign(event, now + 6 * minute)
      ]
      for (const sent of bad) {
        assert.strictEqual(
          statusAndError(yield* deliverWebhook(sent)),
          "400 invalid_signature",
          sent.signature
        )
      }
      assert.strictEqual(
        statusAndError(yield* deliverWebhook({ ...good, body: "a".repeat(1024 * 1024 + 1) })),
        "413 payload_too_large"
      )
      assert.strictEqual(statusAndError(yield* ask("GET", path)), "405 method_not_allowed")
      for (const sent of [
        good,
        stripe.sign(event, now - 4 * minute),
        stripe.sign(event, now + 4 * minute)
      ]) {
        assert.deepStrictEqual((yield* deliverWebhook(sent)).body, { received: true })
      }
    })
  )

  it.effect("counts once on all nodes, and only its customer is used", () =>
    Effect.gen(function* () {
      const { stripe } = yield* BillingFixture
      const sql = yield* SqlClient.SqlClient
      const owner = yield* signUp()
      const { body } = yield* billingClientOf(owner).checkout("price_max")
      const customer = stripe.customers.find(({ workspace }) => workspace === owner.workspace_id)
      // A signed webhook with wrong data changes nothing.
      const claim = {
        id: "evt_claim",
        object: "event",
        data: {
          object: {
            object: "subscription",
            customer: customer?.id,
            status: "active",
            items: { data: [{ price: { id: "price_max" } }] }
          }
        }
      }
      const versions = sql<{ readonly version: number }>`
        SELECT version
        FROM subscriptions
        WHERE workspace_id = ${owner.workspace_id}`
      const now = yield* TestClock.testClockWith((clock) =>
        Effect.succeed(clock.currentTimeMillisUnsafe())
      )
      yield* deliverWebhook(stripe.sign(claim, now))
      // The version increases once for the webhook and once for the subsequent read.
      const after = yield* pollUntil(versions, ([row]) => (row?.version ?? 0) >= 3)
      assert.isNull((yield* billingClientOf(owner).get).body.subscription)
      yield* deliverWebhook(stripe.sign(claim, now), "otherUrl")
      yield* deliverWebhook(stripe.sign(claim, now))
      assert.deepStrictEqual(yield* versions, after)
      stripe.pay(checkoutSessionIdOf(body.url))
      stripe.events.splice(0)
    })
  )

  const Step = Schema.Literals([
    "pay",
    "raise",
    "lower",
    "fail",
    "mend",
    "cancel",
    "month",
    "one",
    "again",
    "late"
  ])
  const Steps = Schema.Array(Step).check(Schema.isMaxLength(12))

  it.effect.prop(
    "leads to the state at the provider, in any order, repeated or late",
    [Steps],
    ([steps]) =>
      Effect.gen(function* () {
        const { stripe } = yield* BillingFixture
        const owner = yield* signUp()
        const billing = billingClientOf(owner)
        const { body } = yield* billing.checkout("price_team")
        stripe.cardFails = false
        const mine = stripe.pay(checkoutSessionIdOf(body.url))
        assert(mine !== undefined)
        const held: Array<object> = []
        const now = yield* TestClock.testClockWith((clock) =>
          Effect.succeed(clock.currentTimeMillisUnsafe())
        )
        const send = (event: object | undefined) =>
          event === undefined ? Effect.void : deliverWebhook(stripe.sign(event, now))
        for (const step of steps) {
          held.push(...stripe.events.splice(0))
          if (step === "raise") mine.price = "price_max"
          if (step === "lower") mine.price = "price_team"
          if (step === "fail" && mine.status === "active") mine.status = "past_due"
          if (step === "mend" && mine.status === "past_due") mine.status = "active"
          if (step === "cancel") mine.cancelAtEnd = !mine.cancelAtEnd
          if (step === "month" && mine.status === "active") mine.end += 2_592_000
          if (step !== "one" && step !== "again" && step !== "late") stripe.change(mine)
          if (step === "one") yield* send(held.shift())
          if (step === "again") yield* send(held[0])
          if (step === "late") yield* send(held.pop())
        }
        held.push(...stripe.events.splice(0))
        for (const event of held.toReversed()) yield* send(event)
        // The last webhook is sent after the last change.
        stripe.change(mine)
        yield* send(stripe.events.splice(0)[0])
        const holds = mine.status !== "canceled"
        yield* pollUntil(
          billing.get,
          ({ body: { plan, subscription } }) =>
            subscription?.status === mine.status &&
            subscription.price === mine.price &&
            (subscription.cancel_at !== null) === mine.cancelAtEnd &&
            plan.id === (holds ? mine.price.slice("price_".length) : "free")
        )
      }),
    { arbitrary: { runs: 8 }, timeout: 60_000 }
  )

  it.effect("leads to the cancellation for a deleted workspace", () =>
    Effect.gen(function* () {
      const { stripe } = yield* BillingFixture
      const sql = yield* SqlClient.SqlClient
      const owner = yield* signUp()
      const { body } = yield* billingClientOf(owner).checkout("price_max")
      const mine = stripe.pay(checkoutSessionIdOf(body.url))
      assert.strictEqual(
        (yield* ask("DELETE", owner.workspace, { token: owner.access_token })).status,
        204
      )
      yield* TestClock.adjust("3 minutes")
      yield* pollUntil(
        Effect.sync(() => mine?.status),
        (status) => status === "canceled"
      )
      yield* pollUntil(
        sql`
          SELECT customer_id
          FROM subscriptions
          WHERE workspace_id = ${owner.workspace_id}`,
        (rows) => rows.length === 0
      )
    })
  )
})

layer(testAppLayer())("a service without a payment provider", (it) => {
  it.effect("responds that billing is disabled", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const billing = billingClientOf(owner)
      for (const answer of [
        yield* billing.checkout("price_max"),
        yield* billing.portal,
        yield* billing.change("price_max"),
        yield* billing.cancel,
        yield* billing.resume,
        yield* billing.invoices,
        yield* deliverWebhook({ body: "{}", signature: "t=1,v1=1" })
      ]) {
        assert.strictEqual(statusAndError(answer), "409 billing_disabled")
      }
      assert.strictEqual((yield* billing.get).body.provider, "none")
    })
  )
})
