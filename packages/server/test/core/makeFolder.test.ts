import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { makeFolder } from "../../src/core/makeFolder.ts"

describe("a new folder", () => {
  it("is created with its parents, for its owner alone, and stays if it exists", () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), "scheduling-folders-"))
    try {
      const folder = path.join(root, "a", "b")
      makeFolder(folder)
      fs.writeFileSync(path.join(folder, "kept"), "")
      makeFolder(folder)
      assert.deepStrictEqual(fs.readdirSync(folder), ["kept"])
      assert.strictEqual(fs.statSync(folder).mode & 0o777, 0o700)
      assert.throws(() => makeFolder(path.join(folder, "kept", "c")), /kept/)
    } finally {
      fs.rmSync(root, { recursive: true })
    }
  })

  it.runIf(process.platform === "linux")(
    "is rejected immediately if the system allows none",
    () => {
      assert.throws(() => makeFolder("/proc/scheduling"), /ENOENT/)
      assert.throws(() => makeFolder("/proc/scheduling/data"), /ENOENT/)
    }
  )
})
