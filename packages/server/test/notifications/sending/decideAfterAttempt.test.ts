import { assert, describe, it } from "@effect/vitest"
import {
  channelHoldMs,
  deliveryRetryDelayMs,
  nextGroupingMs
} from "../../../src/notifications/sending/decideAfterAttempt.ts"

describe("Waits", () => {
  it("grow, and are never longer than half an hour and a bit", () => {
    const waits = Array.from({ length: 40 }, (_, index) => deliveryRetryDelayMs(index + 1, 0.5))
    assert.deepStrictEqual(waits.slice(0, 3), [2_000, 4_000, 8_000])
    assert.strictEqual(waits.at(-1), 30 * 60_000)
    assert.isAtMost(channelHoldMs(1_000), 5 * 60_000)
  })

  it("for grouping are short at first, double, and begin anew when it was quiet", () => {
    const second = { groupingMs: 2_000, quietForMs: 2_000 }
    assert.strictEqual(nextGroupingMs(10, { groupingMs: 0, quietForMs: null }), 1_000)
    assert.strictEqual(nextGroupingMs(10, second), 4_000)
    assert.strictEqual(nextGroupingMs(10, { groupingMs: 8_000, quietForMs: 8_000 }), 10_000)
    assert.strictEqual(nextGroupingMs(10, { groupingMs: 10_000, quietForMs: 21_000 }), 1_000)
    assert.strictEqual(nextGroupingMs(0, second), 0)
  })
})
