import { assert, describe, it } from "@effect/vitest"
import { missingLabelsWarning } from "../src/missingLabelsWarning.ts"

describe("a warning about missing labels", () => {
  it.each([
    [undefined, ["office"], undefined],
    [["office"], ["office"], undefined],
    [
      ["office", "moon"],
      ["office"],
      'the worker does not have the label "moon": the agent claims no runs for it until you add it to the worker'
    ],
    [
      ["moon"],
      [],
      'the worker does not have the label "moon": the agent claims no runs until you add it to the worker'
    ]
  ])("for the agent's labels %j and the worker's labels %j", (wanted, welcomed, problem) => {
    assert.strictEqual(missingLabelsWarning(wanted, welcomed), problem)
  })
})
