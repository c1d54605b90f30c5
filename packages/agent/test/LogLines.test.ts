import { assert, describe, it } from "@effect/vitest"
import { LogLines } from "../src/LogLines.ts"

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe("log lines", () => {
  it("of the same iteration of the event loop are written together", async () => {
    const written: Array<string> = []
    const lines = new LogLines((text) => written.push(text))
    lines.add("one")
    lines.add("two")
    assert.deepStrictEqual(written, [])
    await nextTurn()
    lines.add("three")
    await nextTurn()
    assert.deepStrictEqual(written, ["one\ntwo\n", "three\n"])
  })

  it("are written once when the process exits", async () => {
    const written: Array<string> = []
    const lines = new LogLines((text) => written.push(text))
    lines.add("one")
    lines.flush()
    assert.deepStrictEqual(written, ["one\n"])
    await nextTurn()
    assert.deepStrictEqual(written, ["one\n"])
  })
})
