import { assert, describe, it } from "@effect/vitest"
import { hashQueueOptions } from "../../../src/accounts/passwords/Passwords.ts"
import { pauseForSameDuration } from "../../../src/http/fairness/FairQueue.ts"

describe("the queue of hashes", () => {
  it("uses half of the cores, or half of the time of one core on a small machine", () => {
    const atOnce = (cores: number) => hashQueueOptions(cores).atOnce
    assert.deepStrictEqual([1, 2, 3, 4, 16].map(atOnce), [1, 1, 1, 2, 8])
    assert.deepStrictEqual(
      [1, 2, 3].map((cores) => hashQueueOptions(cores).pause),
      [pauseForSameDuration, pauseForSameDuration, undefined]
    )
  })
})
