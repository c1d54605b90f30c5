import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import {
  defaultStatusFile,
  findStatusFiles,
  readStatus,
  type Status,
  writeStatus
} from "../../src/status/Status.ts"

const token = `pwk_${"x".repeat(43)}`

const status: Status = {
  pid: 7,
  at: "2026-06-01T12:00:00.000Z",
  worker: "Office",
  online: true,
  running: 0,
  unsent: 0,
  done: 3,
  problem: null
}

const names = ["TMPDIR", "XDG_RUNTIME_DIR"] as const

/** Replaces the folder for temporary files during a test. */
const temporary = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = fs.mkdtempSync(join(tmpdir(), "status-"))
    const before = names.map((name) => [name, process.env[name]] as const)
    process.env["TMPDIR"] = folder
    delete process.env["XDG_RUNTIME_DIR"]
    return { folder, before }
  }),
  ({ before, folder }) =>
    Effect.sync(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
      fs.rmSync(folder, { recursive: true })
    })
)

describe.runIf(process.platform === "linux")("the status file of an agent", () => {
  it.effect("is the only file in a folder that only its user can open", () =>
    Effect.gen(function* () {
      yield* temporary
      const file = defaultStatusFile(token)
      yield* writeStatus(file, status)
      yield* writeStatus(file, { ...status, done: 4 })
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(fs.statSync(dirname(file)).mode & 0o777, 0o700)
      assert.deepStrictEqual(fs.readdirSync(dirname(file)), ["pwk_xxxxxxxx.json"])
      assert.strictEqual(Option.getOrThrow(yield* readStatus(file)).done, 4)
    })
  )

  it.effect("is in XDG_RUNTIME_DIR if that is set to an absolute path", () =>
    Effect.gen(function* () {
      const { folder } = yield* temporary
      process.env["XDG_RUNTIME_DIR"] = folder
      const file = defaultStatusFile(token)
      assert.strictEqual(file, join(folder, "scheduling-agent", "pwk_xxxxxxxx.json"))
      yield* writeStatus(file, status)
      assert.deepStrictEqual(yield* findStatusFiles, [file])
      process.env["XDG_RUNTIME_DIR"] = "elsewhere"
      assert.isTrue(defaultStatusFile(token).startsWith(join(folder, "scheduling-agent-")))
    })
  )

  it.effect("is not written through a symbolic link", () =>
    Effect.gen(function* () {
      const { folder } = yield* temporary
      const [file, other] = [join(folder, "status.json"), join(folder, "other")]
      fs.writeFileSync(other, "kept")
      for (const name of [file, `${file}.${status.pid}`]) fs.symlinkSync(other, name)
      yield* writeStatus(file, status)
      assert.strictEqual(fs.readFileSync(other, "utf8"), "kept")
      assert.isTrue(fs.lstatSync(file).isFile())
    })
  )

  it.effect("is neither written to nor read from a folder that others can write to", () =>
    Effect.gen(function* () {
      const { folder } = yield* temporary
      const file = defaultStatusFile(token)
      const elsewhere = join(folder, "elsewhere")
      fs.mkdirSync(elsewhere)
      fs.symlinkSync(elsewhere, dirname(file))
      yield* writeStatus(file, status)
      assert.isEmpty(fs.readdirSync(elsewhere))
      fs.unlinkSync(dirname(file))
      fs.mkdirSync(dirname(file))
      fs.chmodSync(dirname(file), 0o777)
      yield* writeStatus(file, status)
      assert.isEmpty(fs.readdirSync(dirname(file)))
      fs.writeFileSync(file, JSON.stringify(status))
      assert.isTrue(Option.isNone(yield* readStatus(file)))
    })
  )

  it.effect("leaves no temporary file if it cannot be written", () =>
    Effect.gen(function* () {
      const { folder } = yield* temporary
      const file = join(folder, "taken")
      fs.mkdirSync(join(file, "in"), { recursive: true })
      yield* writeStatus(file, status)
      assert.deepStrictEqual(fs.readdirSync(folder), ["taken"])
    })
  )
})
