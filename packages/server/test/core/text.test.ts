import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { truncate, truncateBytes, toOneLine } from "../../src/core/text.ts"

describe("Texts", () => {
  it.prop("have one line and no half characters", [Schema.String], ([text]) => {
    assert.notMatch(toOneLine(text), /[\r\n\u0000\u2028\u2029]/)
    assert.isTrue(toOneLine(text).isWellFormed())
  })

  it("are cut between characters", () => {
    assert.strictEqual(truncate("abc", 3), "abc")
    assert.strictEqual(truncate("ab\u{1F600}c", 4), "ab…")
    assert.isAtMost(Buffer.byteLength(truncateBytes("\u{1F600}".repeat(20), 50)), 50)
    assert.isTrue(truncateBytes("\u{1F600}".repeat(20), 50).isWellFormed())
  })
})
