import { assert, describe, it } from "@effect/vitest"
import { hashingOn } from "../../../src/accounts/passwords/Passwords.ts"
import { afterARest } from "../../../src/http/fairness/FairQueue.ts"

describe("hashing passwords", () => {
  it("takes half of the cores, and of a small machine half of the time of one", () => {
    const atOnce = (cores: number) => hashingOn(cores).atOnce
    assert.deepStrictEqual([1, 2, 3, 4, 16].map(atOnce), [1, 1, 1, 2, 8])
    assert.deepStrictEqual(
      [1, 2, 3].map((cores) => hashingOn(cores).pause),
      [afterARest, afterARest, undefined]
    )
  })
})
