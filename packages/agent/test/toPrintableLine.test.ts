import { assert, describe, it } from "@effect/vitest"
import { toPrintableLine } from "../src/toPrintableLine.ts"

describe("an untrusted text", () => {
  it.each([
    ["\u001b[2J\u0007", "\\u{001b}[2J\\u{0007}"],
    ["one\r\n  two\n", "one | two | "],
    ["\u009b1m\u202egnp\u2028", "\\u{009b}1m\\u{202e}gnp\\u{2028}"],
    ["half \ud83d", "half \\u{d83d}"],
    ["Büro 🏭 東京\ttab", "Büro 🏭 東京\\u{0009}tab"]
  ])("is printed without control characters: %j", (text, shown) => {
    assert.strictEqual(toPrintableLine(text), shown)
  })

  it("is truncated after 2000 characters", () => {
    const shown = toPrintableLine("x".repeat(1_000_000))
    assert.isBelow(shown.length, 2_100)
    assert.match(shown, /x \(truncated\)$/)
  })
})
