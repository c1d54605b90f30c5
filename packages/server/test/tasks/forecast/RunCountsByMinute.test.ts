import { Schedule } from "@scheduling/domain/schedules/Schedule"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { assert, describe, it } from "@effect/vitest"
import { RunCountsByMinute } from "../../../src/tasks/forecast/RunCountsByMinute.ts"
import { visitSlots } from "../../../src/tasks/forecast/visitSlots.ts"

const from = Date.UTC(2026, 5, 1)
const week = { from, to: from + 7 * 86_400_000 }

const excluding = (...excluded_days: ReadonlyArray<string>) => ({
  schedule: Schedule.make("*/5 * * * * *"),
  timezone: TimeZone.make("America/New_York"),
  dst_overlap: "first" as const,
  bounds: JSON.stringify({ excluded_days }),
  tasks: 1
})

const pausesOf = <A>(steps: Generator<void, A>): readonly [number, A] => {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next()
    if (done === true) return [pauses, value]
  }
}

describe("what a forecast counts", () => {
  it("is visited in steps of a few thousand slots, each slot once", () => {
    const seen: Array<number> = []
    const steps = visitSlots(excluding("2026-06-03"), week, (at) => void seen.push(at))
    for (let before = 0; steps.next().done !== true; before = seen.length) {
      assert.isBelow(seen.length - before, 5_000)
    }
    assert.lengthOf(seen, 6 * 17_280)
    assert.lengthOf(new Set(seen), seen.length)
    assert.deepStrictEqual(
      seen,
      seen.toSorted((a, b) => a - b)
    )
  })

  it("includes the work for slots on excluded days, and pauses in a week of seconds", () => {
    const counts = new RunCountsByMinute(week)
    const days = Array.from({ length: 9 }, (_, index) => `2026-06-0${index + 1}`)
    assert.strictEqual(pausesOf(counts.addRhythm(excluding("2026-05-31", ...days)))[1], 7 * 17_280)
    assert.isEmpty(counts.all)
    pausesOf(counts.addRhythm(excluding("2026-05-31")))
    const [pauses, most] = pausesOf(counts.mostPerSecond(1))
    assert.isAbove(pauses, 20)
    assert.strictEqual(most, 0.2)
  })
})
