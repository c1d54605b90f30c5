// @tags slow
import { assert, describe, it } from "@effect/vitest"
import {
  type DstOverlap,
  latestFiring,
  nextFiring,
  previewFirings
} from "@scheduling/schedules/Firings"
import { Arbitrary } from "effect"
import {
  arbitraryDailySchedule,
  arbitraryInstant,
  arbitrarySchedule
} from "./support/ScheduleArbitrary.ts"
import {
  clockChanges,
  dateMatcherOf,
  oracleFirings,
  runsByElapsedTime,
  ticksBetween
} from "./support/ScheduleOracle.ts"

const hour = 3_600_000
const day = 24 * hour

const zones = [
  "Africa/Cairo",
  "Africa/Casablanca",
  "America/Asuncion",
  "America/Havana",
  "America/New_York",
  "America/Nuuk",
  "America/Santiago",
  "America/Scoresbysund",
  "America/St_Johns",
  "Antarctica/Casey",
  "Antarctica/Troll",
  "Asia/Almaty",
  "Asia/Beirut",
  "Asia/Gaza",
  "Asia/Jerusalem",
  "Atlantic/Azores",
  "Australia/Adelaide",
  "Australia/Lord_Howe",
  "Europe/Berlin",
  "Europe/Chisinau",
  "Europe/Dublin",
  "Europe/London",
  "Pacific/Auckland",
  "Pacific/Chatham",
  "Pacific/Easter",
  "Pacific/Norfolk"
]

const schedules = [
  "* * * * *",
  "*/15 * * * *",
  "0 * * * *",
  "30 * * * *",
  "15,45 0-23 * * *",
  "0 */2 * * *",
  "30 1-23/2 * * *",
  "*/15 2 * * *",
  "*/20 0-3 * * *",
  "7-59/13 0,1,2,3,23 * * *",
  "0 0 * * *",
  "30 0 * * *",
  "30 1 * * *",
  "0 2 * * *",
  "30 2 * * *",
  "15 2,3 * * *",
  "0 2,3 * * *",
  "45 23 * * *",
  "0 0,12 * * SUN",
  "30 2 25-31 MAR,OCT SUN",
  "0 0 1,15 * FRI"
]

interface Window {
  readonly zone: string
  readonly from: number
  readonly to: number
  readonly ticks: ReturnType<typeof ticksBetween>
}

/**
 * No clock change affects times beyond this reach, because the largest change is 2 hours (Troll).
 * The ticks start one `reach` before the window, so that the oracle knows what came before. Firings
 * there are not checked.
 */
const windowAround = (zone: string, change: number, reach = 2.5 * hour): Window => {
  const [from, to] = [change - reach, change + reach]
  return { zone, from, to, ticks: ticksBetween(zone, from - reach, to) }
}

const windows = zones.flatMap((zone) =>
  clockChanges(zone, Date.UTC(2024, 0), Date.UTC(2031, 0)).map((at) => windowAround(zone, at))
)

const actualFires = (
  schedule: string,
  window: Window,
  overlap: DstOverlap
): ReadonlyArray<number> => {
  const firings: Array<number> = []
  const options = { dst_overlap: overlap }
  let at = nextFiring(schedule, window.zone, window.from, options)
  while (at < window.to) {
    firings.push(at)
    at = nextFiring(schedule, window.zone, at, options)
  }
  return firings
}

const checkFires = (schedule: string, window: Window): void => {
  const occurrences = oracleFirings(schedule, window.ticks, window.from)
  const probes = [window.from + hour, window.from + 3 * hour, window.to - hour, window.to - 1]
  for (const dst_overlap of ["first", "both"] as const) {
    const repeats = dst_overlap === "both" || runsByElapsedTime(schedule)
    const expected = occurrences
      .filter(({ kind }) => repeats || kind !== "repeated")
      .map(({ at }) => at)
    const name = `${schedule} in ${window.zone}, ${dst_overlap}`
    assert.deepStrictEqual(actualFires(schedule, window, dst_overlap), expected, name)
    for (const now of probes) {
      const bound = window.from + 1
      const options = { dst_overlap }
      const latest = latestFiring(schedule, window.zone, now, bound, options)
      const last = expected.findLast((at) => at <= now)
      assert.strictEqual(latest, last, `${name}, latest at ${now}`)
    }
  }
}

const checkPreview = (schedule: string, window: Window): void => {
  const dropped = runsByElapsedTime(schedule) ? "doubled" : "dropped"
  const changes = { plain: null, moved: "moved", repeated: dropped } as const
  const expected = oracleFirings(schedule, window.ticks, window.from).map(({ at, kind }) => [
    new Date(at).toISOString(),
    changes[kind]
  ])
  const actual = previewFirings(schedule, window.zone, window.from, expected.length)
    .filter((firing) => Date.parse(firing.at) < window.to)
    .map((firing) => [firing.at, firing.clock_change])
  assert.deepStrictEqual(actual, expected, `${schedule} in ${window.zone}`)
}

describe("a schedule around clock changes", () => {
  it("is tested with every clock change of at least 20 zones from 2024 to 2030", () => {
    assert.isAtLeast(new Set(windows.map((window) => window.zone)).size, 20)
    assert.isAtLeast(windows.length, 250)
  })

  for (const schedule of schedules) {
    it(`fires ${schedule} as a walk through every minute says`, () => {
      for (const window of windows) checkFires(schedule, window)
    })
  }

  it("previews what happens at each change", () => {
    windows.forEach((window, index) => {
      schedules
        .filter((_, number) => number % 3 === index % 3)
        .forEach((schedule) => checkPreview(schedule, window))
    })
  })

  it.prop(
    "fires random times of the day as a walk through every minute says",
    [arbitraryDailySchedule, arbitraryInstant],
    ([schedule, instant]) => {
      windows
        .filter((_, index) => index % 13 === (instant / 1000) % 13)
        .forEach((window) => checkFires(schedule, window))
    },
    { arbitrary: { runs: 60 } }
  )

  it("survives a skipped day and a change by odd seconds", () => {
    const samoa = "Pacific/Apia"
    const monrovia = "Africa/Monrovia"
    for (const schedule of schedules) {
      checkFires(schedule, windowAround(samoa, Date.UTC(2011, 11, 30, 10), 30 * hour))
    }
    const noon = "0 12 * * *"
    assert.deepStrictEqual(
      previewFirings(noon, monrovia, Date.UTC(1972, 0, 6), 2).map((firing) => firing.at),
      ["1972-01-06T12:44:30.000Z", "1972-01-07T12:00:00.000Z"]
    )
  })
})

describe("a schedule without clock changes", () => {
  const arbitraryZone = arbitraryInstant.pipe(
    Arbitrary.map((instant) => zones[(instant / 1000) % zones.length] ?? "UTC")
  )

  it.prop(
    "has its next firing where a walk of two days finds it, and none where that finds none",
    [arbitrarySchedule, arbitraryZone, arbitraryInstant],
    ([schedule, zone, after]) => {
      const start = Math.ceil(after / 60_000) * 60_000 - 3 * hour
      const ticks = ticksBetween(zone, start, start + 2 * day)
      const expected = oracleFirings(schedule, ticks, after)[0]
      const actual = nextFiring(schedule, zone, after, { dst_overlap: "both" })
      assert.isAbove(actual, after)
      if (expected === undefined) assert.isAtLeast(actual, start + 2 * day)
      else assert.strictEqual(actual, expected.at)
    },
    { arbitrary: { runs: 150 } }
  )

  it.prop(
    "finds dates that are years away, and no date before them",
    [arbitrarySchedule, arbitraryInstant],
    ([schedule, after]) => {
      const matches = dateMatcherOf(schedule)
      const utc = "UTC"
      let midnight = Math.floor(after / day) * day + day
      while (!matches(midnight)) midnight += day
      const actual = nextFiring(schedule, utc, midnight - 1)
      assert.strictEqual(Math.floor(actual / day) * day, midnight)
      assert.strictEqual(nextFiring(schedule, utc, actual - 1), actual)
      const before = latestFiring(schedule, utc, midnight - 1, after)
      assert.isTrue(before === undefined || before < Math.floor(after / day) * day + day)
    },
    { arbitrary: { runs: 200 } }
  )

  it.prop(
    "has the same firings forwards and backwards",
    [arbitrarySchedule, arbitraryZone, arbitraryInstant],
    ([schedule, zone, after]) => {
      let at = after
      for (let count = 0; count < 20; count++) {
        const next = nextFiring(schedule, zone, at)
        assert.isAbove(next, at)
        const bounds = [
          [next, next],
          [next + 59_999, at],
          [next, after]
        ] as const
        for (const [now, lowerBound] of bounds) {
          const latest = latestFiring(schedule, zone, now, lowerBound)
          assert.strictEqual(latest, next)
        }
        const between = latestFiring(schedule, zone, next - 1, at + 1)
        assert.isUndefined(between)
        at = next
      }
    },
    { arbitrary: { runs: 150 } }
  )

  it("finds the latest of millions of missed firings immediately", () => {
    const schedule = "* * * * *"
    const zone = "Europe/Berlin"
    const now = Date.UTC(2026, 5, 1, 12, 0, 30)
    const latest = latestFiring(schedule, zone, now, Date.UTC(2016, 0))
    assert.strictEqual(latest, Date.UTC(2026, 5, 1, 12, 0))
    assert.strictEqual(nextFiring(schedule, zone, now), Date.UTC(2026, 5, 1, 12, 1))
  })
})
