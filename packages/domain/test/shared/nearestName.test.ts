import { assert, describe, it } from "@effect/vitest"
import { nearestName } from "../../src/shared/nearestName.ts"

const names = ["RATE_LIMIT", "DATABASE_URL", "DATABASE_POOL"]
const nearest = (given: string, most = 2) => nearestName(given, names, () => most)

describe("the nearest name", () => {
  it("is found with letters missing, too many, wrong or exchanged", () => {
    const cases = [
      ["RATELIMIT", "RATE_LIMIT"],
      ["rate_limit", "RATE_LIMIT"],
      ["RAET_LIMIT", "RATE_LIMIT"],
      ["RATE_LIMITS", "RATE_LIMIT"],
      ["DATABASE_URI", "DATABASE_URL"],
      ["DATABSE_URL", "DATABASE_URL"],
      ["DATABASE_POLO", "DATABASE_POOL"]
    ] as const
    for (const [given, meant] of cases) assert.strictEqual(nearest(given, 1), meant, given)
  })

  it("is none where more is wrong than may be", () => {
    assert.isUndefined(nearest("RATES_LIMITED", 2))
    assert.strictEqual(nearest("RATES_LIMITED", 3), "RATE_LIMIT")
    assert.isUndefined(nearest("DATABASE_URI", 0))
    assert.isUndefined(nearest("RATE_LIMIT", -1))
    assert.isUndefined(nearest(""))
  })
})
