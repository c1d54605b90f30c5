import { assert, describe, it } from "@effect/vitest"
import type { ChainStep } from "@scheduling/domain/chains/Chain"
import { followUp } from "../../src/runner/ChainRuns.ts"

const step = (name: string, run_if: ChainStep["run_if"] = "success"): ChainStep => ({
  name,
  run_if,
  url: "https://example.com/",
  method: "POST",
  headers: {},
  body: null,
  timeout_seconds: 30,
  retry_count: 0
})

const steps = [step("login"), step("alarm", "failure"), step("close")]
const at = (step_index: number) => ({ step_index, steps })
const names = ({ next, skipped }: ReturnType<typeof followUp>) => ({
  next: next?.step ?? null,
  skipped: skipped.map((passed) => passed.step)
})

describe("what follows a step", () => {
  it("is the next one whose condition holds; those on the way are passed over", () => {
    assert.deepStrictEqual(names(followUp(at(0), [], "succeeded", 0)), {
      next: "close",
      skipped: ["alarm"]
    })
    assert.deepStrictEqual(names(followUp(at(0), [], "failed", 0)), { next: "alarm", skipped: [] })
    assert.deepStrictEqual(names(followUp(at(1), ["failed"], "succeeded", 0)), {
      next: null,
      skipped: ["close"]
    })
  })

  it("is nothing once somebody cancelled it, whatever the others ask for", () => {
    assert.deepStrictEqual(names(followUp(at(0), [], "cancelled", 0)), {
      next: null,
      skipped: ["alarm", "close"]
    })
  })

  it("is nothing where the whole run was skipped, because the one before it goes on", () => {
    assert.deepStrictEqual(names(followUp(at(0), [], "skipped", 0)), { next: null, skipped: [] })
  })

  it("is nothing for a task that is no chain", () => {
    const task = { step_index: null, steps: null }
    assert.deepStrictEqual(names(followUp(task, [], "succeeded", 0)), { next: null, skipped: [] })
  })
})
