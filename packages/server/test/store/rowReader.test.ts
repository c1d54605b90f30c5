import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"

const program = (folder: string) => `
  import "effect/schema/SchemaJITCompiler/enable"
  import { Effect, Schema } from "effect"
  import { rowReader } from "${folder}/rowReader.ts"
  const rows = await Effect.runPromise(
    rowReader(["id", "due_ms"])({ values: Effect.succeed([["a", 1], ["b", null]]) })
  )
  const encode = Schema.encodeSync(Schema.Struct({ at: Schema.NumberFromString }))
  console.log(JSON.stringify([rows, encode({ at: 1 })]))`

it("rows are read and schemas encoded even if code generation is forbidden", () => {
  const folder = new URL("../../src/store", import.meta.url)
  const said = (...flags: ReadonlyArray<string>) =>
    execFileSync(
      process.execPath,
      [...flags, "--input-type=module", "--eval", program(folder.href)],
      { cwd: import.meta.dirname, encoding: "utf8" }
    )
  const forbidden = said("--disallow-code-generation-from-strings")
  assert.strictEqual(forbidden, said())
  assert.deepStrictEqual(JSON.parse(forbidden), [
    [
      { id: "a", due_ms: 1 },
      { id: "b", due_ms: null }
    ],
    { at: "1" }
  ])
})
