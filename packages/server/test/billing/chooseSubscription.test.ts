import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type Stripe from "stripe"
import { chooseSubscription, subscriptionState } from "../../src/billing/chooseSubscription.ts"
import { paymentGraceDays, subscriptionStatusOf } from "../../src/plans/subscriptionStatus.ts"

const day = 86_400_000
const now = new Date("2026-06-10T00:00:00Z")

const daysAgo = (days: number) => new Date(now.getTime() - days * day)

const of = (id: string, status: string, created: number, more: object = {}) =>
  ({
    id,
    status,
    created,
    cancel_at: null,
    cancel_at_period_end: false,
    schedule: null,
    items: { data: [{ price: { id: "price_team" }, current_period_end: 1_781_000_000 }] },
    ...more
  }) as unknown as Stripe.Subscription

const statuses = [
  "trialing",
  "active",
  "past_due",
  "unpaid",
  "incomplete",
  "incomplete_expired",
  "paused",
  "canceled",
  "something_new"
] as const

describe("subscription status", () => {
  it.each([
    ["trialing", null, true, null],
    ["active", null, true, null],
    ["past_due", daysAgo(0), true, new Date(now.getTime() + paymentGraceDays * day)],
    ["past_due", daysAgo(6.9), true, new Date(now.getTime() + 0.1 * day)],
    ["past_due", daysAgo(7), false, null],
    ["past_due", null, false, null],
    ["unpaid", daysAgo(1), false, null],
    ["incomplete", null, false, null],
    ["incomplete_expired", null, false, null],
    ["paused", null, false, null],
    ["canceled", null, false, null],
    ["something_new", null, false, null]
  ] as const)(
    "%s since %s: the plan holds: %s, until %s",
    (status, past_due_since, holds, until) => {
      assert.deepStrictEqual(subscriptionStatusOf({ status, past_due_since }, now), {
        holds,
        until
      })
    }
  )
})

describe("chooseSubscription", () => {
  it("chooses the oldest active subscription, and returns other active ones as surplus", () => {
    const { chosen, surplus } = chooseSubscription([
      of("d", "active", 4),
      of("c", "trialing", 3),
      of("b", "incomplete", 2),
      of("a", "canceled", 1)
    ])
    assert.strictEqual(chosen?.id, "c")
    assert.deepStrictEqual(
      surplus.map(({ id }) => id),
      ["d"]
    )
  })

  it("chooses the last subscription if none is active", () => {
    const all = [of("a", "canceled", 1), of("b", "incomplete_expired", 2)]
    assert.strictEqual(chooseSubscription(all).chosen?.id, "b")
    assert.isUndefined(chooseSubscription([]).chosen)
  })

  const Some = Schema.Array(Schema.Tuple([Schema.Literals(statuses), Schema.Int])).check(
    Schema.isMaxLength(6)
  )

  it.prop("does not depend on the order, and leaves at most one active", [Some], ([some]) => {
    const all = some.map(([status, created], index) => of(String(index), status, created))
    const forth = chooseSubscription(all)
    const back = chooseSubscription(all.toReversed())
    assert.strictEqual(forth.chosen?.id, back.chosen?.id)
    assert.sameMembers(
      forth.surplus.map(({ id }) => id),
      back.surplus.map(({ id }) => id)
    )
    assert.notInclude(forth.surplus, forth.chosen)
  })
})

describe("subscriptionState", () => {
  it("has the end of the period and the price of the next phase", () => {
    const schedule = {
      current_phase: { start_date: 1, end_date: 2 },
      phases: [
        { start_date: 1, items: [{ price: "price_team" }] },
        { start_date: 2, items: [{ price: { id: "price_solo" } }] }
      ]
    }
    assert.deepStrictEqual(subscriptionState(of("a", "active", 1, { schedule })), {
      subscription_id: "a",
      status: "active",
      price_id: "price_team",
      next_price_id: "price_solo",
      period_end: new Date(1_781_000_000_000),
      cancel_at: null
    })
  })

  it("ends with the period after a cancellation", () => {
    const { cancel_at } = subscriptionState(of("a", "active", 1, { cancel_at_period_end: true }))
    assert.deepStrictEqual(cancel_at, new Date(1_781_000_000_000))
  })
})
