import { assert, describe, it } from "@effect/vitest"
import { advanceChain, type StepOutcome } from "../../../src/engine/chains/advanceChain.ts"
import type { RunIf } from "@scheduling/domain/chains/ChainStep"
import { Schema } from "effect"

type Ending = "succeeded" | "failed" | "cancelled"

/** Runs a chain until it finishes. `endings` contains each step's result, used if the step runs. */
const play = (conditions: ReadonlyArray<RunIf>, endings: ReadonlyArray<Ending>) => {
  const steps = conditions.map((run_if) => ({ run_if }))
  const outcomes: Array<StepOutcome> = []
  for (;;) {
    const advance = advanceChain(steps, outcomes)
    for (const index of advance.skipped) {
      assert.strictEqual(index, outcomes.length)
      outcomes.push("skipped")
    }
    if (advance.next === null) return { outcomes, status: advance.status }
    assert.strictEqual(advance.next, outcomes.length)
    assert.strictEqual(advance.status, "running")
    outcomes.push(endings[advance.next] ?? "succeeded")
  }
}

describe("a chain", () => {
  it("runs its steps in order while they succeed", () => {
    assert.deepStrictEqual(advanceChain([{ run_if: "success" }], []), {
      next: 0,
      skipped: [],
      status: "running"
    })
    assert.deepStrictEqual(play(["success", "success"], []), {
      outcomes: ["succeeded", "succeeded"],
      status: "succeeded"
    })
  })

  it("continues with its failure steps once a step failed", () => {
    assert.deepStrictEqual(
      play(["success", "success", "failure", "success", "failure"], ["failed"]),
      { outcomes: ["failed", "skipped", "succeeded", "skipped", "succeeded"], status: "failed" }
    )
  })

  it("skips its failure steps while nothing failed, without failing", () => {
    assert.deepStrictEqual(play(["failure", "success", "failure"], []), {
      outcomes: ["skipped", "succeeded", "skipped"],
      status: "succeeded"
    })
  })

  it("stops at a cancelled step, even before steps that always run", () => {
    assert.deepStrictEqual(play(["success", "always", "failure"], ["cancelled"]), {
      outcomes: ["cancelled", "skipped", "skipped"],
      status: "cancelled"
    })
  })

  const Conditions = Schema.Array(Schema.Literals(["success", "failure", "always"])).check(
    Schema.isMaxLength(20)
  )
  const Endings = Schema.Array(Schema.Literals(["succeeded", "failed", "cancelled"])).check(
    Schema.isMaxLength(20)
  )

  it.prop("ends with one result per step", [Conditions, Endings], ([conditions, endings]) => {
    const { outcomes, status } = play(conditions, endings)
    assert.strictEqual(outcomes.length, conditions.length)
    const expected = outcomes.includes("cancelled")
      ? "cancelled"
      : outcomes.includes("failed")
        ? "failed"
        : "succeeded"
    assert.strictEqual(status, expected)
  })

  it.prop(
    "runs each step exactly as its condition says",
    [Conditions, Endings],
    ([conditions, endings]) => {
      const { outcomes } = play(conditions, endings)
      for (const [index, condition] of conditions.entries()) {
        const before = new Set(outcomes.slice(0, index))
        const runs =
          !before.has("cancelled") &&
          (condition === "always" || before.has("failed") === (condition === "failure"))
        assert.strictEqual(outcomes[index] !== "skipped", runs)
      }
    }
  )
})
