import { assert, describe, it } from "@effect/vitest"
import { followUpOf } from "../../../src/engine/chains/ChainRuns.ts"

const outline = {
  names: ["login", "alarm", "close"],
  conditions: ["success", "failure", "success"],
  on_workers: [false, false, false],
  pauses: [false, false, false]
} as const

const at = (step_index: number, after_failure = false) => ({ step_index, after_failure })
const names = ({ next, skipped }: ReturnType<typeof followUpOf>) => ({
  next: next?.step ?? null,
  skipped: skipped.map((passed) => passed.step)
})

describe("what follows a step", () => {
  it("is the next step whose condition holds, and the steps before it are skipped", () => {
    assert.deepStrictEqual(names(followUpOf(at(0), outline, "succeeded", 0)), {
      next: "close",
      skipped: ["alarm"]
    })
    assert.deepStrictEqual(names(followUpOf(at(0), outline, "failed", 0)), {
      next: "alarm",
      skipped: []
    })
    assert.deepStrictEqual(names(followUpOf(at(1, true), outline, "succeeded", 0)), {
      next: null,
      skipped: ["close"]
    })
  })

  it("is nothing after a step was cancelled, whatever the other conditions are", () => {
    assert.deepStrictEqual(names(followUpOf(at(0), outline, "cancelled", 0)), {
      next: null,
      skipped: ["alarm", "close"]
    })
  })

  it("is empty if the whole run was skipped because of the previous one", () => {
    assert.deepStrictEqual(names(followUpOf(at(0), outline, "skipped", 0)), {
      next: null,
      skipped: []
    })
  })
})
