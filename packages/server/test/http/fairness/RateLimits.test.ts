import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RateLimits } from "../../../src/http/fairness/RateLimits.ts"

const minute = 60_000

describe("The rate limit of a credential", () => {
  it("accepts a whole minute's requests in a burst, and no more", () => {
    const limits = new RateLimits(600)
    for (let left = 599; left >= 0; left--) {
      const rate = limits.take("a", 0)
      assert.isFalse(rate.isOver)
      assert.strictEqual(rate.remaining, left)
    }
    assert.deepStrictEqual(limits.take("a", 0), { isOver: true, remaining: 0, seconds: 1 })
  })

  it("refills evenly, and charges nothing for a rejection", () => {
    const limits = new RateLimits(6)
    for (let index = 0; index < 6; index++) limits.take("a", 0)
    for (let index = 0; index < 100; index++) assert.isTrue(limits.take("a", 1_000).isOver)
    assert.strictEqual(limits.take("a", 1_000).seconds, 9)
    assert.isFalse(limits.take("a", 10_000).isOver)
    assert.isTrue(limits.take("a", 10_000).isOver)
    assert.strictEqual(limits.take("a", 20_000 + minute).remaining, 5)
  })

  it("says when the quota is full again", () => {
    const limits = new RateLimits(60)
    assert.deepStrictEqual(limits.take("a", 0), { isOver: false, remaining: 59, seconds: 1 })
    assert.deepStrictEqual(limits.take("a", 500), { isOver: false, remaining: 58, seconds: 2 })
  })

  it("counts each credential for itself", () => {
    const limits = new RateLimits(1)
    assert.isFalse(limits.take("a", 0).isOver)
    assert.isFalse(limits.take("b", 0).isOver)
    assert.isTrue(limits.take("a", 1).isOver)
  })

  it("forgets credentials that were not used for two minutes", () => {
    const limits = new RateLimits(600)
    for (let index = 0; index < 1_000; index++) limits.take(`key ${index}`, index)
    limits.take("a", minute + 1)
    limits.take("a", 2 * minute + 2)
    assert.isAtMost(limits.size, 2)
  })

  it.prop(
    "never accepts more than a full bucket and its refill",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })),
      Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30_000 }))).check(
        Schema.isMaxLength(200)
      )
    ],
    ([perMinute, pauses]) => {
      const limits = new RateLimits(perMinute)
      let now = 0
      let answered = 0
      for (const pause of pauses) {
        now += pause
        const { isOver, remaining, seconds } = limits.take("a", now)
        if (!isOver) answered++
        assert.isAtMost(answered, perMinute + (now / minute) * perMinute + 0.001)
        assert.isAtLeast(remaining, 0)
        assert.isAtLeast(seconds, 1)
        if (isOver) {
          now += seconds * 1_000
          assert.isFalse(limits.take("a", now).isOver, "at the promised time")
          answered++
        }
      }
    }
  )
})
