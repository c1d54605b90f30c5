import { assert, describe, it } from "@effect/vitest"
import { Lines } from "../src/Lines.ts"

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe("the lines of the log", () => {
  it("are written together if they come together", async () => {
    const written: Array<string> = []
    const lines = new Lines((text) => written.push(text))
    lines.add("one")
    lines.add("two")
    assert.deepStrictEqual(written, [])
    await nextTurn()
    lines.add("three")
    await nextTurn()
    assert.deepStrictEqual(written, ["one\ntwo\n", "three\n"])
  })

  it("are written at once when the process ends, and never again", async () => {
    const written: Array<string> = []
    const lines = new Lines((text) => written.push(text))
    lines.add("one")
    lines.flush()
    assert.deepStrictEqual(written, ["one\n"])
    await nextTurn()
    assert.deepStrictEqual(written, ["one\n"])
  })
})
