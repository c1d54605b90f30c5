import { assert, describe, it } from "@effect/vitest"
import { nextFiring } from "@scheduling/schedules/Firings"
import { visitFirings } from "@scheduling/schedules/visitFirings"

const day = 86_400_000

const schedules = [
  "* * * * *",
  "*/15 * * * *",
  "30 * * * *",
  "0 2,3 * * *",
  "30 2 * * *",
  "*/10 1-2 * * *",
  "15 1 * * *",
  "0 0 1 * *",
  "0 9 * * MON-FRI",
  "0 12 LW * *",
  "5 4 29 2 *",
  "*/10 */6 * * * *",
  "17 30 2 * * *",
  "5,55 * 1-3 * * *",
  "30 59 23 L * *"
]

/** Time zones with a clock change in each direction, including one by half an hour. */
const times: ReadonlyArray<readonly [timezone: string, from: string]> = [
  ["UTC", "2026-01-30T12:34:56.789Z"],
  ["Europe/Berlin", "2026-03-27T00:00:00.000Z"],
  ["Europe/Berlin", "2026-10-23T22:30:00.001Z"],
  ["Australia/Lord_Howe", "2026-04-02T00:00:30.000Z"],
  ["Australia/Lord_Howe", "2026-10-01T00:00:00.000Z"],
  ["Asia/Kathmandu", "2026-06-01T00:00:00.000Z"]
]

const oneByOne = (
  schedule: string,
  timezone: string,
  from: number,
  to: number,
  dst_overlap: "first" | "both"
) => {
  const firings: Array<number> = []
  for (let at = from - 1; ;) {
    at = nextFiring(schedule, timezone, at, { dst_overlap })
    if (at >= to) return firings
    firings.push(at)
  }
}

describe("visitFirings", () => {
  for (const [zone, start] of times) {
    it.each(schedules)(
      `finds in ${zone} from ${start} what is found one by one: %s`,
      (schedule) => {
        const from = Date.parse(start)
        for (const to of [from + 4 * day, from + 2 * day + 1, from + 1]) {
          for (const dst_overlap of ["first", "both"] as const) {
            const visited: Array<number> = []
            visitFirings(schedule, zone, from, to, { dst_overlap }, (at) => visited.push(at))
            assert.deepStrictEqual(visited, oneByOne(schedule, zone, from, to, dst_overlap))
          }
        }
      }
    )
  }

  it("includes the start and not the end", () => {
    const at = Date.parse("2026-01-01T00:00:00.000Z")
    const visited: Array<number> = []
    const visit = (at: number) => visited.push(at)
    visitFirings("0 * * * *", "UTC", at, at + 3_600_000, {}, visit)
    assert.deepStrictEqual(visited, [at])
  })
})
