import { assert, describe, it } from "@effect/vitest"
import {
  errorLine,
  executionError,
  parseErrorLine,
  statusError
} from "@scheduling/domain/executions/ExecutionError"

describe("the line of an error", () => {
  it.each([
    statusError(404),
    executionError("timeout", ""),
    executionError("invalid_template", "url: a value: too long"),
    executionError("response_rule", 'the response contains "x\ny: z"')
  ])("is read as it was written: %j", (error) => {
    assert.deepStrictEqual(parseErrorLine(errorLine(error)), error)
  })

  it.each(["connection refused", "", ": x", "constructor: x", "step a: responded with 500", "dns"])(
    "without a known code is read whole: %j",
    (line) => {
      assert.deepStrictEqual(parseErrorLine(line), { code: "unknown", message: line })
    }
  )
})
