// @tags processes
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { initializeTemplate } from "../../src/store/embedded/initialize.ts"
import { readDatabaseTemplate, templateFile } from "../../src/store/embedded/template.ts"
import { temporaryDirectory } from "./support/embedded.ts"

/** Returns the template file that starting a store finds or creates in a directory. */
const template = (directory: string) =>
  Effect.tryPromise({
    try: (signal) => initializeTemplate(signal, directory),
    catch: (cause) => String(cause)
  })

describe("the template of a store in memory", { timeout: 60_000 }, () => {
  it.live("is kept for the next start, and created again when it is damaged", () =>
    Effect.gen(function* () {
      const directory = path.join(yield* temporaryDirectory, "cache")
      fs.mkdirSync(directory, { mode: 0o700 })
      const damaged = templateFile(directory)
      fs.writeFileSync(damaged, "damaged")
      const file = yield* template(directory)
      assert.strictEqual(file, damaged)
      assert.deepStrictEqual(fs.readdirSync(directory), [path.basename(file)])
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      const made = fs.statSync(file).mtimeMs
      yield* template(directory)
      assert.strictEqual(fs.statSync(file).mtimeMs, made)
      fs.truncateSync(file, fs.statSync(file).size - 1)
      assert.isUndefined(readDatabaseTemplate(file))
    })
  )

  it.live("is never read from a directory to which other users can write", () =>
    Effect.gen(function* () {
      const parent = yield* temporaryDirectory
      const open = path.join(parent, "open")
      fs.mkdirSync(open)
      fs.chmodSync(open, 0o777)
      const own = path.join(parent, "own")
      fs.mkdirSync(own, { mode: 0o700 })
      const link = path.join(parent, "link")
      fs.symlinkSync(own, link)
      const file = path.join(parent, "file")
      fs.writeFileSync(file, "", { mode: 0o600 })
      for (const directory of [open, link, file]) {
        const reason = yield* Effect.flip(template(directory))
        assert.include(reason, directory)
      }
      assert.deepStrictEqual(fs.readdirSync(open), [])
      assert.deepStrictEqual(fs.readdirSync(own), [])
    })
  )
})
