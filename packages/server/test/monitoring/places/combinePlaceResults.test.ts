import { assert, describe, it } from "@effect/vitest"
import { noMeasurements } from "@scheduling/calls/probes/checkErrors"
import type { DownWhen } from "@scheduling/domain/monitors/checks/Place"
import {
  combinePlaceResults,
  type PlaceCheckResult
} from "../../../src/monitoring/places/combinePlaceResults.ts"

const good = (duration_ms: number): PlaceCheckResult => ({
  labels: ["oslo"],
  result: { ...noMeasurements, duration_ms }
})

const bad: PlaceCheckResult = {
  labels: ["fra", "dc1"],
  result: {
    ...noMeasurements,
    error: { code: "http_status", message: "Responded with 503." },
    status_code: 503
  }
}

const isDown = (downWhen: DownWhen, known: ReadonlyArray<PlaceCheckResult>) => {
  const result = combinePlaceResults(downWhen, known)
  return result === undefined ? undefined : result.error !== null
}

describe("combinePlaceResults", () => {
  it("counts the failed places among the known ones", () => {
    const cases: ReadonlyArray<
      readonly [ReadonlyArray<PlaceCheckResult>, any: boolean, majority: boolean, all: boolean]
    > = [
      [[good(1), good(2), good(3)], false, false, false],
      [[bad, good(2), good(3)], true, false, false],
      [[bad, bad, good(3)], true, true, false],
      [[bad, bad, bad], true, true, true],
      [[bad, good(1)], true, false, false],
      [[bad], true, true, true],
      [[good(1)], false, false, false]
    ]
    for (const [known, ...expected] of cases) {
      const found = (["any", "majority", "all"] as const).map((when) => isDown(when, known))
      assert.deepStrictEqual(found, expected)
    }
  })

  it("has no result if no place is known", () => {
    for (const when of ["any", "majority", "all"] as const) {
      assert.isUndefined(combinePlaceResults(when, []))
    }
  })

  it("has the measurements of a place that decided, and says where it failed", () => {
    assert.strictEqual(combinePlaceResults("majority", [good(9), good(1), good(5)])?.duration_ms, 5)
    assert.deepInclude(combinePlaceResults("any", [good(9), bad, bad]), {
      status_code: 503,
      error: {
        code: "http_status",
        message: "Failed at 2 of 3 places. At fra, dc1: Responded with 503."
      }
    })
    assert.strictEqual(combinePlaceResults("all", [bad])?.error?.message, "Responded with 503.")
  })
})
