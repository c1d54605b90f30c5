import { errorLine } from "@scheduling/domain/executions/ExecutionError"
import { assert, describe, it } from "@effect/vitest"
import { classifyResponse } from "../src/classifyResponse.ts"

const classify = (status: number, body: string, rule: Parameters<typeof classifyResponse>[2]) => {
  const { error, outcome } = classifyResponse(status, body, rule)
  return [outcome, error && errorLine(error)] as const
}

describe("a response", () => {
  it.each([
    [200, "success", null],
    [299, "success", null],
    [302, "failed", "http_status: responded with 302, and redirects are not followed"],
    [404, "failed", "http_status: responded with 404"],
    [429, "retryable", "http_status: responded with 429"],
    [503, "retryable", "http_status: responded with 503"],
    [600, "failed", "http_status: responded with 600"]
  ] as const)("of %i is judged by its status where nothing is said", (status, outcome, error) => {
    assert.deepStrictEqual(classify(status, "", null), [outcome, error])
    assert.deepStrictEqual(
      classify(status, "", { body_contains: "x" })[0],
      {
        success: "retryable",
        failed: "failed",
        retryable: "retryable"
      }[outcome]
    )
  })

  it.each([
    [["200-299", "404"], 204, "success", null],
    [["200-299", "404"], 404, "success", null],
    [["302"], 302, "success", null],
    [["503"], 503, "success", null],
    [["404"], 200, "failed", "http_status: the status 200 is not one of 404"],
    [["200", "202-204"], 201, "failed", "http_status: the status 201 is not one of 200, 202-204"],
    [["404"], 503, "retryable", "http_status: the status 503 is not one of 404"],
    [["200"], 429, "retryable", "http_status: the status 429 is not one of 200"]
  ] as const)("is measured against %j: %i", (success_codes, status, outcome, error) => {
    assert.deepStrictEqual(classify(status, "", { success_codes }), [outcome, error])
  })

  it("is retryable if its body breaks a rule", () => {
    const rule = { body_contains: '"ok"', body_lacks: "error" }
    assert.deepStrictEqual(classify(200, '{"state":"ok"}', rule), ["success", null])
    assert.deepStrictEqual(classify(200, "", rule), [
      "retryable",
      'response_rule: the response does not contain "\\"ok\\"" in the part that is stored'
    ])
    assert.deepStrictEqual(classify(200, '{"state":"ok","last":"error"}', rule), [
      "retryable",
      'response_rule: the response contains "error"'
    ])
  })

  it("is classified by its body only if its status is a success", () => {
    assert.deepStrictEqual(classify(404, "gone", { body_contains: "gone" }), [
      "failed",
      "http_status: responded with 404"
    ])
    const rule = { success_codes: ["404"], body_contains: "gone" }
    assert.deepStrictEqual(classify(404, "gone", rule), ["success", null])
    assert.strictEqual(classify(404, "here", rule)[0], "retryable")
  })

  it("quotes at most 100 characters of the text in its error", () => {
    const [, error] = classify(200, "", { body_contains: "\u0001".repeat(500) })
    assert.isBelow(error?.length ?? 0, 1_000)
  })
})
