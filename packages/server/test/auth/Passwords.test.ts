import { assert, describe, it } from "@effect/vitest"
import { hashingOn } from "../../src/auth/passwords/Passwords.ts"
import { afterARest } from "../../src/fairness/FairQueue.ts"

describe("hashing passwords", () => {
  it("takes half of the cores, and half of the time of the only one", () => {
    const atOnce = (cores: number) => hashingOn(cores).atOnce
    assert.deepStrictEqual([1, 2, 3, 4, 16].map(atOnce), [1, 1, 1, 2, 8])
    assert.deepStrictEqual(
      [1, 2].map((cores) => hashingOn(cores).pause),
      [afterARest, undefined]
    )
  })
})
