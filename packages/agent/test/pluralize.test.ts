import { assert, describe, it } from "@effect/vitest"
import { pluralize } from "../src/pluralize.ts"

describe("pluralize", () => {
  it("uses the singular for one and the plural for other numbers", () => {
    assert.strictEqual(pluralize(1, "private network"), "1 private network")
    assert.strictEqual(pluralize(0, "slot"), "0 slots")
    assert.strictEqual(pluralize(1, "call is", "calls are"), "1 call is")
    assert.strictEqual(pluralize(2, "call is", "calls are"), "2 calls are")
  })
})
