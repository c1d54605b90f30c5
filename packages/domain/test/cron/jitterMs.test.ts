import { assert, describe, it } from "@effect/vitest"
import { jitterMs } from "@scheduling/domain/cron/jitterMs"

describe("jitter", () => {
  const id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
  const minute = 60_000

  it("is the same for a slot, and less than its bound", () => {
    const all = Array.from({ length: 1_000 }, (_, at) => jitterMs(id, at * minute, 30))
    assert.deepStrictEqual(
      all,
      Array.from({ length: 1_000 }, (_, at) => jitterMs(id, at * minute, 30))
    )
    assert.isTrue(all.every((ms) => Number.isInteger(ms) && ms >= 0 && ms < 30_000))
  })

  it.each([
    ["slots of a task", (at: number) => jitterMs(id, at * minute, 60)],
    ["tasks of a slot", (at: number) => jitterMs(`${id.slice(0, -4)}${at}`, minute, 60)]
  ] as const)("spreads %s evenly", (_, jitter) => {
    const tenths = Array<number>(10).fill(0)
    for (let at = 1_000; at < 6_000; at++) {
      const tenth = Math.floor(jitter(at) / 6_000)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    // The expected count is 500, with a standard deviation of 21.
    assert.isTrue(
      tenths.every((count) => count > 390 && count < 610),
      tenths.join(" ")
    )
  })
})
