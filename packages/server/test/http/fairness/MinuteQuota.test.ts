import { assert, describe, it } from "@effect/vitest"
import { MinuteQuota } from "../../../src/http/fairness/MinuteQuota.ts"

const minute = 60_000

/** Returns how many of 100 events at this time are allowed. */
const take100 = (quota: MinuteQuota, ms: number) =>
  Array.from({ length: 100 }, () => quota.take("a", ms)).filter((taken) => taken).length

describe("MinuteQuota", () => {
  it("allows 60 events of a key per minute", () => {
    const quota = new MinuteQuota()
    assert.strictEqual(take100(quota, 10 * minute), 60)
    assert.isFalse(quota.isLeft("a", 10 * minute))
    assert.isTrue(quota.isLeft("b", 10 * minute))
    assert.strictEqual(take100(quota, 11 * minute), 60)
    // A request that waited still has the time of its arrival.
    assert.strictEqual(take100(quota, 11 * minute - 1), 0)
  })

  it("counts anew after a clock that ran ahead is set back", () => {
    const quota = new MinuteQuota()
    assert.strictEqual(take100(quota, 1_000 * minute), 60)
    assert.strictEqual(take100(quota, 10 * minute), 60)
    assert.strictEqual(take100(quota, 11 * minute), 60)
  })
})
