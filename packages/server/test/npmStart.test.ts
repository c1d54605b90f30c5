// @tags processes long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { createDataDirectory } from "./support/createDataDirectory.ts"
import { eventually, freePort } from "./support/ServerProcess.ts"

const root = path.resolve(import.meta.dirname, "../../..")

const isAnswering = (port: number) =>
  fetch(`http://127.0.0.1:${port}/v1/ready`).then(
    (response) => response.ok,
    () => false
  )

/** Returns the shell's environment, without the variables set by the npm that runs this test. */
const environment = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/i.test(name)))

const npmStart = Effect.fnUntraced(function* (prefix: ReadonlyArray<string> = []) {
  const port = yield* freePort
  const data = yield* createDataDirectory("npm")
  const [command = "npm", ...args] = [...prefix, "npm", "start"]
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(command, args, {
        cwd: root,
        // The process has its own process group, so that all of its child processes can be killed
        // if the test fails.
        detached: true,
        env: { ...environment(), PORT: String(port), DATA_DIR: data, LOG_FORMAT: "json" },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) =>
      Effect.sync(() => {
        try {
          process.kill(-(child.pid ?? 0), "SIGKILL")
        } catch {
          // The process has already exited.
        }
      })
  )
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text) => (output += text))
  child.stderr.setEncoding("utf8").on("data", (text) => (output += text))
  const exited = once(child, "close")
  yield* eventually("a server that answers", () => isAnswering(port), 100_000)
  return {
    pid: child.pid ?? 0,
    /** Resolves to the exit code once all processes that were started have closed their output. */
    ended: Effect.promise(() => exited.then(([code]: Array<number | null>) => code)).pipe(
      Effect.timeout("40 seconds"),
      Effect.tap(() =>
        Effect.promise(async () => {
          assert.isFalse(await isAnswering(port), output)
          assert.isFalse(fs.existsSync(path.join(data, "postgres.pid")), output)
        })
      )
    ),
    output: () => output
  }
})

const canBePid1 = spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0

const timeout = 150_000

describe.skipIf(process.platform === "win32")("npm start", () => {
  it.live(
    "ends with its server on SIGTERM",
    () =>
      Effect.gen(function* () {
        const npm = yield* npmStart()
        process.kill(npm.pid, "SIGTERM")
        assert.strictEqual(yield* npm.ended, 0, npm.output())
      }),
    timeout
  )

  it.live(
    "stops its server even if it is killed with SIGKILL",
    () =>
      Effect.gen(function* () {
        const npm = yield* npmStart()
        process.kill(npm.pid, "SIGKILL")
        yield* npm.ended
      }),
    timeout
  )

  it.live.skipIf(!canBePid1)(
    "stops cleanly as the first process of a container",
    () =>
      Effect.gen(function* () {
        const unshare = yield* npmStart(["unshare", "--pid", "--fork", "--mount-proc"])
        const children = `/proc/${unshare.pid}/task/${unshare.pid}/children`
        process.kill(Number(fs.readFileSync(children, "utf8").trim()), "SIGTERM")
        assert.strictEqual(yield* unshare.ended, 0, unshare.output())
      }),
    timeout
  )
})

describe("The launcher", () => {
  it("says in one line which Node is needed if the server cannot run on this one", () => {
    const launcher = path.join(root, "packages/server/start.cjs")
    const run = spawnSync(process.execPath, ["--no-strip-types", launcher], {
      encoding: "utf8",
      cwd: os.tmpdir()
    })
    assert.strictEqual(run.status, 1)
    assert.match(run.stderr, /^cannot start: the service needs Node 22\.19 or newer.*\n$/)
  })
})
