import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readPidFile } from "../../src/processes/readPidFile.ts"

const inFolder = async (use: (folder: string) => Promise<void>) => {
  const folder = fs.mkdtempSync(join(tmpdir(), "pid-"))
  try {
    await use(folder)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

describe("a pid file", () => {
  it.each([
    ["7", 7],
    [" 4194304\r\n", 4_194_304],
    ["", undefined],
    ["0", undefined],
    ["-7", undefined],
    ["7 8", undefined],
    ["0x10", undefined],
    ["1.5", undefined],
    ["7".repeat(11), undefined],
    [`7${" ".repeat(32)}`, undefined]
  ])("with the content %j has the pid %j", (text, pid) =>
    inFolder(async (folder) => {
      const file = join(folder, "x.pid")
      fs.writeFileSync(file, text)
      assert.strictEqual(await readPidFile(file), pid)
    })
  )

  it("can be a symbolic link", () =>
    inFolder(async (folder) => {
      fs.writeFileSync(join(folder, "x.pid"), "7")
      fs.symlinkSync("x.pid", join(folder, "link"))
      assert.strictEqual(await readPidFile(join(folder, "link")), 7)
    }))

  it.runIf(process.platform === "linux")(
    "has no pid if it is a device, a pipe, a folder or too long",
    () =>
      inFolder(async (folder) => {
        const [pipe, huge] = [join(folder, "pipe"), join(folder, "huge")]
        execFileSync("mkfifo", [pipe])
        fs.writeFileSync(huge, "7")
        fs.truncateSync(huge, 2 ** 40)
        const before = process.memoryUsage.rss()
        for (const file of [
          pipe,
          huge,
          folder,
          join(folder, "none"),
          "/dev/ptmx",
          "/dev/tty",
          "/dev/zero"
        ]) {
          assert.isUndefined(await readPidFile(file), file)
        }
        assert.isBelow(process.memoryUsage.rss() - before, 50_000_000)
      })
  )
})
