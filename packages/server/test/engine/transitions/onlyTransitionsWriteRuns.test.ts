import { assert, describe, it } from "@effect/vitest"
import house from "../../../../../scripts/oxlint-house.ts"

const rule = house.rules["only-transitions-write-runs"]

/** Returns whether the lint rule reports this text if it is in this file of the server's source. */
const isReported = (file: string, text: string): boolean => {
  let reported = false
  const visitor = rule.create({
    cwd: "/project",
    filename: `/project/packages/server/src/${file}`,
    report: () => void (reported = true)
  })
  visitor.Literal?.({ type: "Literal", value: text })
  visitor.TemplateElement?.({ type: "TemplateElement", value: { raw: text } })
  return reported
}

describe("the rule that only transitions write runs", () => {
  it.each(["UPDATE runs\n SET state", "INSERT INTO runs (id)", "WITH a AS (DELETE FROM runs"])(
    "refuses %j outside of transitions",
    (text) => {
      assert.isTrue(isReported("tasks/LastRunRepo.ts", text))
      assert.isTrue(isReported("engine/runner/Settler.ts", text))
      assert.isFalse(isReported("engine/transitions/claim.ts", text))
    }
  )

  it.each(["SELECT id FROM runs", "UPDATE runs_of_somebody", "FOR UPDATE"])("lets %j be", (text) =>
    assert.isFalse(isReported("tasks/LastRunRepo.ts", text))
  )
})
