import { assert, describe, it } from "@effect/vitest"
import { missingLabels } from "../src/labels.ts"

describe("labels of the agent", () => {
  it.each([
    [undefined, ["office"], undefined],
    [["office"], ["office"], undefined],
    [
      ["office", "moon"],
      ["office"],
      'the worker does not have the label "moon": the agent takes no runs for it'
    ],
    [["moon"], [], 'the worker does not have the label "moon": the agent takes no runs']
  ])("%j, of which the worker has %j", (wanted, welcomed, problem) => {
    assert.strictEqual(missingLabels(wanted, welcomed), problem)
  })
})
