import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  ask,
  logIn,
  type Member,
  statusAndError,
  signUp,
  runConcurrently
} from "../support/http.ts"
import { leap } from "../support/leap.ts"
import {
  assignedPlans,
  billingClientOf,
  deliverWebhook,
  FixtureLayer,
  checkoutSessionIdOf,
  BillingFixture,
  pollUntil
} from "./support/fixture.ts"
import type { FakeStripe } from "./support/FakeStripe.ts"

/** Delivers the fake Stripe's webhooks to the service. */
const deliverEvents = (stripe: FakeStripe) =>
  Effect.forEach(stripe.events.splice(0), (event) => deliverWebhook(stripe.sign(event)), {
    discard: true
  })

/** Moves the service's clock and the fake Stripe's clock, and logs in again. */
const pass = Effect.fnUntraced(function* (stripe: FakeStripe, member: Member, days: number) {
  stripe.pass(days)
  yield* leap(`${days} days`)
  yield* deliverEvents(stripe)
  const { body } = yield* logIn(member.email)
  return { ...member, access_token: body.access_token as string }
})

const stateOf = (member: Member) =>
  Effect.map(billingClientOf(member).get, ({ body }) => ({
    status: body.subscription?.status,
    plan: body.plan.id,
    next: body.subscription?.next_price,
    ends: body.subscription?.cancel_at !== null
  }))

const becomes = (member: Member, status: string, plan: string) =>
  pollUntil(stateOf(member), (state) => state.status === status && state.plan === plan)

layer(FixtureLayer, { timeout: "60 seconds" })("a subscription", (it) => {
  it.effect(
    "has a trial, is paid, upgraded, downgraded, past due, paid, cancelled and bought again",
    () =>
      Effect.gen(function* () {
        const { stripe } = yield* BillingFixture
        let owner: Member = yield* signUp()
        const before = yield* billingClientOf(owner).get
        assert.strictEqual(before.body.provider, "stripe")
        assert.strictEqual(before.body.plan.id, "free")
        assert.isNull(before.body.subscription)
        assert.strictEqual(statusAndError(yield* billingClientOf(owner).cancel), "409 conflict")
        assert.deepStrictEqual((yield* billingClientOf(owner).invoices).body, { data: [] })

        const { body: page } = yield* billingClientOf(owner).checkout("price_team")
        assert.match(page.url, /^https:\/\/checkout\.test\/cs_/)
        assert.strictEqual((yield* stateOf(owner)).plan, "free")
        stripe.pay(checkoutSessionIdOf(page.url))
        yield* deliverEvents(stripe)
        yield* becomes(owner, "trialing", "team")

        owner = yield* pass(stripe, owner, 14)
        yield* becomes(owner, "active", "team")

        const raised = yield* billingClientOf(owner).change("price_max")
        assert.strictEqual(raised.status, 200, raised.text)
        assert.strictEqual(raised.body.plan.id, "max")
        const { body: invoices } = yield* billingClientOf(owner).invoices
        assert.deepStrictEqual(
          invoices.data.map(({ total }: { readonly total: number }) => total),
          [8_000, 1_900]
        )

        const lowered = yield* billingClientOf(owner).change("price_team")
        assert.strictEqual(lowered.body.plan.id, "max")
        assert.strictEqual(lowered.body.subscription.next_price, "price_team")
        owner = yield* pass(stripe, owner, 30)
        yield* becomes(owner, "active", "team")

        stripe.cardFails = true
        owner = yield* pass(stripe, owner, 30)
        const due = yield* pollUntil(
          billingClientOf(owner).get,
          ({ body }) => body.subscription.status === "past_due"
        )
        assert.strictEqual(due.body.plan.id, "team")
        assert.isNotNull(due.body.subscription.plan_ends_at)
        assert.strictEqual(
          statusAndError(yield* billingClientOf(owner).change("price_max")),
          "409 conflict"
        )
        owner = yield* pass(stripe, owner, 7)
        assert.deepInclude(yield* stateOf(owner), { status: "past_due", plan: "free" })
        stripe.cardFails = false
        owner = yield* pass(stripe, owner, 1)
        yield* becomes(owner, "active", "team")

        assert.strictEqual(
          (yield* billingClientOf(owner).cancel).body.subscription.status,
          "active"
        )
        assert.isTrue((yield* stateOf(owner)).ends)
        assert.isFalse((yield* billingClientOf(owner).resume).body.subscription.cancel_at !== null)
        assert.strictEqual(statusAndError(yield* billingClientOf(owner).resume), "409 conflict")
        yield* billingClientOf(owner).cancel
        owner = yield* pass(stripe, owner, 30)
        yield* becomes(owner, "canceled", "free")

        const again = yield* billingClientOf(owner).checkout("price_team")
        stripe.pay(checkoutSessionIdOf(again.body.url))
        yield* deliverEvents(stripe)
        // Each workspace can have only one trial.
        yield* becomes(owner, "active", "team")
        const { body: audit } = yield* ask("GET", `${owner.workspace}/audit?limit=100`, {
          token: owner.access_token
        })
        const events: ReadonlyArray<{
          readonly action: string
          readonly actor: { readonly id: string } | null
        }> = audit.data.filter(({ action }: { readonly action: string }) =>
          action.startsWith("billing.")
        )
        assert.deepStrictEqual(
          events.flatMap(({ action, actor }) => (actor?.id === owner.user_id ? [action] : [])),
          [
            "checkout_started",
            "cancelled",
            "resumed",
            "cancelled",
            "plan_changed",
            "plan_changed",
            "checkout_started"
          ].map((what) => `billing.${what}`)
        )
        assert.isTrue(
          events.every(({ action, actor }) => (actor === null) === (action === "billing.changed"))
        )
        assert.match(
          (yield* billingClientOf(owner).portal).body.url,
          /^https:\/\/portal\.test\/cus_/
        )
      })
  )

  it.effect("is unchanged if the card is rejected, and can be resumed with a card", () =>
    Effect.gen(function* () {
      const { stripe } = yield* BillingFixture
      stripe.hasCard = false
      let owner: Member = yield* signUp()
      const { body } = yield* billingClientOf(owner).checkout("price_team")
      stripe.pay(checkoutSessionIdOf(body.url))
      owner = yield* pass(stripe, owner, 14)
      yield* becomes(owner, "paused", "free")
      assert.strictEqual(statusAndError(yield* billingClientOf(owner).resume), "402 payment_failed")
      stripe.hasCard = true
      const resumed = yield* billingClientOf(owner).resume
      assert.strictEqual(resumed.body.plan.id, "team")
      stripe.cardFails = true
      assert.strictEqual(
        statusAndError(yield* billingClientOf(owner).change("price_max")),
        "402 payment_failed"
      )
      stripe.cardFails = false
      assert.deepInclude(yield* stateOf(owner), { status: "active", plan: "team" })
    })
  )

  it.effect("cannot be bought or changed if the operator has assigned a plan", () =>
    Effect.gen(function* () {
      const { stripe } = yield* BillingFixture
      const owner = yield* signUp()
      assignedPlans.set(owner.workspace_id, "max")
      const refused = yield* billingClientOf(owner).checkout("price_team")
      assert.strictEqual(statusAndError(refused), "409 conflict")
      assert.match(refused.body.detail.message, /operator/)
      assert.strictEqual((yield* billingClientOf(owner).get).body.plan.id, "max")

      assignedPlans.delete(owner.workspace_id)
      const { body } = yield* billingClientOf(owner).checkout("price_team")
      stripe.pay(checkoutSessionIdOf(body.url))
      yield* deliverEvents(stripe)
      yield* becomes(owner, "trialing", "team")
      assignedPlans.set(owner.workspace_id, "max")
      assert.strictEqual(
        statusAndError(yield* billingClientOf(owner).change("price_max")),
        "409 conflict"
      )
      assert.strictEqual(statusAndError(yield* billingClientOf(owner).cancel), "200")
      assignedPlans.delete(owner.workspace_id)
    })
  )

  it.effect(
    "remains the only one if two nodes upgrade simultaneously, or two payment pages are paid",
    () =>
      Effect.gen(function* () {
        const { stripe } = yield* BillingFixture
        const owner = yield* signUp()
        const { checkout, change } = billingClientOf(owner)
        const pages = yield* runConcurrently([
          checkout("price_team"),
          checkout("price_team", "otherUrl"),
          checkout("price_max"),
          checkout("price_max", "otherUrl")
        ])
        const customers = stripe.customers.filter(
          ({ workspace }) => workspace === owner.workspace_id
        )
        assert.lengthOf(customers, 1)
        for (const page of pages) assert.include(["200", "409 conflict"], statusAndError(page))
        const paid = pages.flatMap(
          ({ body }) => stripe.pay(checkoutSessionIdOf(body.url ?? "")) ?? []
        )
        assert.lengthOf(paid, 1)
        // The second payment page was paid, too.
        const late = { ...stripe.sessions.at(-1)!, id: "cs_late", status: "open" }
        stripe.sessions.push(late)
        const surplus = stripe.pay("cs_late")
        yield* deliverEvents(stripe)
        yield* pollUntil(
          Effect.sync(() => surplus?.status),
          (status) => status === "canceled"
        )
        const price = paid[0]?.price === "price_max" ? "price_team" : "price_max"
        const answers = yield* runConcurrently([
          change(price),
          change(price, "otherUrl"),
          change(price)
        ])
        for (const answer of answers)
          assert.include(["200", "409 conflict"], statusAndError(answer))
        assert.strictEqual(statusAndError(yield* checkout("price_team")), "409 conflict")
        const live = stripe.subscriptions.filter(
          ({ customer, status }) => customer === customers[0]?.id && status !== "canceled"
        )
        assert.lengthOf(live, 1)
        assert.strictEqual(live[0]?.id, paid[0]?.id)
      })
  )

  it.effect("is read within a day without a webhook", () =>
    Effect.gen(function* () {
      const { stripe } = yield* BillingFixture
      const owner = yield* signUp()
      const { body } = yield* billingClientOf(owner).checkout("price_max")
      stripe.pay(checkoutSessionIdOf(body.url))
      stripe.events.splice(0)
      yield* leap("25 hours")
      const { body: login } = yield* logIn(owner.email)
      yield* becomes({ ...owner, access_token: login.access_token }, "active", "max")
    })
  )

  it.effect("cannot be bought if the provider is unreachable or the price is unknown", () =>
    Effect.gen(function* () {
      const { stripe } = yield* BillingFixture
      const owner = yield* signUp()
      const { checkout } = billingClientOf(owner)
      assert.strictEqual(statusAndError(yield* checkout("price_other")), "422 validation_failed")
      stripe.isAway = true
      const refused = yield* checkout("price_max")
      stripe.isAway = false
      assert.strictEqual(statusAndError(refused), "503 billing_unavailable")
      assert.strictEqual(refused.headers.get("retry-after"), "5")
      assert.strictEqual((yield* checkout("price_max")).status, 200)
    })
  )
})
