import type { ExecutionDetail } from "@scheduling/sdk"
import { describe, expect, it } from "vitest"
import { describeOutcome } from "../src/executions/outcome.ts"
import { describeError } from "../src/ui/values/describeError.ts"

describe("the outcome of an execution", () => {
  it("names the status code and begins with a capital letter", () => {
    expect(describeError("connection refused")).toBe("Connection refused")
    expect(describeError("step book: responded with 503")).toBe(
      "Step book: responded with 503 Service Unavailable"
    )
    expect(describeError("responded with 418")).toBe("Responded with 418")
    const succeeded = { status: "succeeded", error: null, attempts: [{ status_code: 202 }] }
    expect(describeOutcome(succeeded as unknown as ExecutionDetail)).toBe(
      "Responded with 202 Accepted"
    )
  })
})
