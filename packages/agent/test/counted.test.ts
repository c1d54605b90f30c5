import { assert, describe, it } from "@effect/vitest"
import { counted } from "../src/counted.ts"

describe("a number with its noun", () => {
  it("has one of one and more of all else", () => {
    assert.strictEqual(counted(1, "private network"), "1 private network")
    assert.strictEqual(counted(0, "slot"), "0 slots")
    assert.strictEqual(counted(1, "call is", "calls are"), "1 call is")
    assert.strictEqual(counted(2, "call is", "calls are"), "2 calls are")
  })
})
