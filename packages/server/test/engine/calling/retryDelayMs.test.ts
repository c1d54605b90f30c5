import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { retryDelayMs } from "../../../src/engine/calling/retryDelayMs.ts"

const hourMs = 3_600_000
const small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const positive = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))
const fraction = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 0.999_999 }))
const seconds = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: -10, maximum: 1e6 })))

describe("retryDelayMs", () => {
  it.prop(
    "allows exactly retry_count retries",
    [small, positive, fraction, seconds],
    ([retry_count, failures, random, retry_after_seconds]) => {
      const delay = retryDelayMs({ failures, retry_count, retry_after_seconds }, random)
      assert.strictEqual(delay === null, failures > retry_count)
    }
  )

  it.prop(
    "stays below the doubled ceiling, and never beyond an hour",
    [positive, fraction],
    ([failures, random]) => {
      const delay = retryDelayMs({ failures, retry_count: 10, retry_after_seconds: null }, random)
      assert(delay !== null)
      assert.isAtLeast(delay, 0)
      assert.isAtMost(delay, Math.min(1_000 * 2 ** (failures - 1), hourMs))
    }
  )

  it.prop(
    "waits as long as the server asks, up to an hour",
    [positive, fraction, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))],
    ([failures, random, asked]) => {
      const retry = { failures, retry_count: 10, retry_after_seconds: asked }
      const delay = retryDelayMs(retry, random) ?? -1
      assert.isAtLeast(delay, Math.min(asked * 1_000, hourMs))
      assert.isAtMost(delay, hourMs)
    }
  )

  it.prop(
    "waits between half of the chosen delay and the whole delay",
    [positive, fraction, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 }))],
    ([failures, random, max_seconds]) => {
      const waits = { first_seconds: 10, factor: 1.5, max_seconds }
      const retry = { failures, retry_count: 10, waits, retry_after_seconds: null }
      const delay = retryDelayMs(retry, random) ?? -1
      const chosenMs = Math.min(10 * 1.5 ** (failures - 1), max_seconds) * 1_000
      assert.isAtLeast(delay, Math.floor(chosenMs / 2))
      assert.isAtMost(delay, Math.ceil(chosenMs))
      // `Retry-After` works the same as without these options.
      const asked = retryDelayMs({ ...retry, retry_after_seconds: 7_200 }, random) ?? -1
      assert.strictEqual(asked, Math.max(delay, hourMs))
    }
  )

  it("spreads calls that failed together over the whole range", () => {
    const retry = { failures: 4, retry_count: 10, retry_after_seconds: null }
    assert.strictEqual(retryDelayMs(retry, 0), 0)
    assert.strictEqual(retryDelayMs(retry, 0.5), 4_000)
    assert.strictEqual(retryDelayMs(retry, 0.999_999), 8_000)
  })
})
