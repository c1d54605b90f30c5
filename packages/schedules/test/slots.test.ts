import { nextFiring } from "@scheduling/schedules/Firings"
import {
  latestSlot,
  nextSlot,
  nextSlotInSteps,
  previewSlotsInSteps,
  type SlotRule
} from "@scheduling/schedules/slots"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

/** Time zones whose clocks change at midnight (Havana, Beirut) or by half an hour (Lord Howe). */
const zones = ["UTC", "Europe/Berlin", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe"]
const schedules = ["0 0 * * *", "30 2 * * *", "*/20 * * * *", "0 */5 * * *", "15 23 * * 1-5"]
/** Days around the clock changes of these time zones in 2026, and some other days. */
const days = ["2026-03-08", "2026-03-29", "2026-03-30", "2026-04-05", "2026-10-24", "2026-10-25"]
const bothWays = ["first", "both"] as const

const pick = <A>(values: ReadonlyArray<A>, index: number): A => {
  const value = values[index % values.length]
  return value === undefined ? assert.fail("nothing to pick from") : value
}

const daysOf = new Map<string, Intl.DateTimeFormat>()

const localDay = (at: number, timezone: string) => {
  const days =
    daysOf.get(timezone) ??
    new Intl.DateTimeFormat("en-CA", { timeZone: timezone, dateStyle: "short" })
  daysOf.set(timezone, days)
  return days.format(at)
}

const isSlot = (at: number, timezone: string, rule: SlotRule) =>
  at >= Date.parse(rule.starts_at ?? "1970-01-01T00:00:00Z") &&
  at <= Date.parse(rule.ends_at ?? "2100-01-01T00:00:00Z") &&
  rule.excluded_days?.includes(localDay(at, timezone)) !== true

/** Returns all slots within a few days, by computing one firing after another. */
const slotsOf = (
  schedule: string,
  timezone: string,
  from: number,
  until: number,
  rule: SlotRule
) => {
  const slots: Array<number> = []
  for (let at = nextFiring(schedule, timezone, from, rule); at <= until;) {
    if (isSlot(at, timezone, rule)) slots.push(at)
    at = nextFiring(schedule, timezone, at, rule)
  }
  return slots
}

const index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
const minutes = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 * 24 * 60 }))

const SearchCase = Schema.Struct({
  seed: index,
  away: minutes,
  begins: minutes,
  lasts: minutes,
  excluded: Schema.Array(index)
})

const searchOf = ({ away, begins, excluded, lasts, seed }: typeof SearchCase.Type) => {
  const from = Date.parse(`${pick(days, seed)}T00:00:00Z`) - 2 * 86_400_000 + away * 60_000
  const starts = from + (begins - 24 * 60) * 60_000
  const rule: SlotRule = {
    dst_overlap: pick(bothWays, seed),
    starts_at: new Date(starts).toISOString(),
    ends_at: new Date(starts + lasts * 60_000).toISOString(),
    excluded_days: excluded.map((one) => pick(days, one))
  }
  return { from, rule, schedule: pick(schedules, seed), timezone: pick(zones, seed >> 3) }
}

describe("slots", () => {
  it.prop(
    "are the firings within the bounds, without excluded days",
    [SearchCase],
    ([searchCase]) => {
      const { from, rule, schedule, timezone } = searchOf(searchCase)
      const until = from + 12 * 86_400_000
      const found: Array<number> = []
      for (let after: number | null = from; after !== null && after <= until;) {
        after = nextSlot(schedule, timezone, after, rule)
        if (after !== null && after <= until) found.push(after)
      }
      assert.deepStrictEqual(found, slotsOf(schedule, timezone, from, until, rule))
    }
  )

  it.prop("are found backwards too", [SearchCase], ([searchCase]) => {
    const { from, rule, schedule, timezone } = searchOf(searchCase)
    const now = from + 5 * 86_400_000
    assert.deepStrictEqual(
      latestSlot(schedule, timezone, now, from, rule),
      slotsOf(schedule, timezone, from - 1, now, rule).at(-1)
    )
  })

  it("end if no slot is left", () => {
    const rule = { ends_at: "2026-06-03T03:00:00Z", excluded_days: ["2026-06-03"] }
    const daily = "0 3 * * *"
    const utc = "UTC"
    const next = (after: string) => nextSlot(daily, utc, Date.parse(after), rule)
    assert.strictEqual(next("2026-06-01T12:00:00Z"), Date.parse("2026-06-02T03:00:00Z"))
    assert.isNull(next("2026-06-02T03:00:00Z"))
  })

  it("skip a hundred excluded days quickly", () => {
    const start = Date.parse("2026-01-01T00:00:00Z")
    const dayOf = (index: number) => new Date(start + index * 86_400_000).toISOString().slice(0, 10)
    const rule = { excluded_days: Array.from({ length: 100 }, (_, at) => dayOf(at)) }
    const began = performance.now()
    const next = nextSlot("* * * * *", "UTC", start, rule)
    assert.strictEqual(next, start + 100 * 86_400_000)
    assert.isBelow(performance.now() - began, 50)
  })

  it("are searched with a pause after each excluded day", () => {
    const leapDays = "0 0 29 2 *"
    const rule = { excluded_days: ["2028-02-29", "2032-02-29", "2036-02-29"] }
    const after = Date.parse("2026-01-01T00:00:00Z")
    assert.deepStrictEqual(stepsOf(nextSlotInSteps(leapDays, "UTC", after, rule)), {
      count: 3,
      result: Date.parse("2040-02-29T00:00:00Z")
    })
  })
})

describe("the preview", () => {
  const berlin = "Europe/Berlin"
  const shown = (schedule: string, from: string, count: number, rule: SlotRule) =>
    stepsOf(previewSlotsInSteps(schedule, berlin, Date.parse(from), count, rule)).result.map(
      ({ clock_change, excluded, local }) =>
        [local.slice(0, 16), excluded ? "excluded" : clock_change] as const
    )

  it("shows an excluded day by its first firing, which does not count", () => {
    const rule = { excluded_days: ["2026-06-02"] }
    assert.deepStrictEqual(shown("0 */8 * * *", "2026-06-01T10:00:00Z", 3, rule), [
      ["2026-06-01T16:00", null],
      ["2026-06-02T00:00", "excluded"],
      ["2026-06-03T00:00", null],
      ["2026-06-03T08:00", null]
    ])
    const dayOfChange = { excluded_days: ["2026-10-25"] }
    assert.deepStrictEqual(shown("30 2 * * *", "2026-10-24T10:00:00Z", 1, dayOfChange), [
      ["2026-10-25T02:30", "excluded"],
      ["2026-10-26T02:30", null]
    ])
  })

  it("begins and ends with the slots", () => {
    const rule = { starts_at: "2026-10-25T00:00:00Z", ends_at: "2026-10-26T01:30:00Z" }
    assert.deepStrictEqual(shown("30 2 * * *", "2026-06-01T00:00:00Z", 10, rule), [
      ["2026-10-25T02:30", null],
      ["2026-10-25T02:30", "dropped"],
      ["2026-10-26T02:30", null]
    ])
    assert.deepStrictEqual(shown("30 2 * * *", "2026-10-27T00:00:00Z", 10, rule), [])
  })

  it("searches ten years ahead, and further only for the first firing", () => {
    assert.deepStrictEqual(
      shown("0 0 29 2 *", "2026-06-01T00:00:00Z", 100, {}).map(([local]) => local.slice(0, 4)),
      ["2028", "2032", "2036"]
    )
    const leapSundays = "0 0 *,29W 2 SUN#5"
    const first = [["2032-02-29T00:00", null] as const]
    assert.deepStrictEqual(shown(leapSundays, "2026-06-01T00:00:00Z", 100, {}), first)
    const rule = { starts_at: "2033-01-01T00:00:00Z" }
    assert.deepStrictEqual(shown(leapSundays, "2026-06-01T00:00:00Z", 100, rule), [
      ["2060-02-29T00:00", null]
    ])
  })

  it("end with the year 9999, as the times of the API do", () => {
    const rule = { starts_at: "9999-12-31T23:30:00Z" }
    assert.deepStrictEqual(shown("0 * * * *", "2026-06-01T00:00:00Z", 3, rule), [])
    const hourly = "0 * * * *"
    assert.isNull(nextSlot(hourly, berlin, 0, rule))
    assert.isNotNull(nextSlot(hourly, berlin, 0, { starts_at: "9999-12-31T22:30:00Z" }))
  })

  it("pauses after each firing", () => {
    const yearly = "0 0 1 1 *"
    const { count, result } = stepsOf(previewSlotsInSteps(yearly, berlin, 0, 100, {}))
    assert.deepStrictEqual([count, result.length], [10, 10])
  })
})

/** Runs a search and returns its result with the number of its pauses. */
const stepsOf = <A>(steps: Generator<void, A>): { readonly count: number; readonly result: A } => {
  for (let count = 0; ; count++) {
    const { done, value } = steps.next()
    if (done === true) return { count, result: value }
  }
}
