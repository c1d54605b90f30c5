// @tags processes
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import { createServer } from "node:net"
import * as path from "node:path"
import { eventually, freePort, listening, temporaryFolder } from "../support/ServerProcess.ts"
import { type Command, startCommand, token } from "./agentCommand.ts"

/** Starts an agent that connects to this port. Its temporary files are in `folder`. */
const startAgent = Effect.fnUntraced(function* (
  port: number,
  words: ReadonlyArray<string> = [],
  folder?: string
) {
  const env = {
    TMPDIR: folder ?? (yield* temporaryFolder("agent-away")),
    SCHEDULING_URL: `http://127.0.0.1:${port}`,
    SCHEDULING_WORKER_TOKEN: token
  }
  return yield* startCommand(["run", ...words], env)
})

const statusOf = Effect.fnUntraced(function* (folder: string, ...words: ReadonlyArray<string>) {
  const command = yield* startCommand(["status", ...words], { TMPDIR: folder })
  return { code: yield* command.exited, said: command.output() }
})

const waitForRetry = (agent: Command) =>
  eventually("a refused hello", async () => agent.output().includes("retrying"))

describe("an agent whose service is unreachable", () => {
  it.live(
    "exits with 0 soon after SIGTERM, while its hello fails",
    () =>
      Effect.gen(function* () {
        const agent = yield* startAgent(yield* freePort)
        yield* waitForRetry(agent)
        assert.match(
          agent.output(),
          /starting a session: .*: connect ECONNREFUSED 127\.0\.0\.1:\d+;/
        )
        agent.kill("SIGTERM")
        assert.strictEqual(yield* Effect.timeout(agent.exited, "20 seconds"), 0)
      }),
    120_000
  )

  it.live(
    "exits with 0 soon after SIGINT, while it waits for a response",
    () =>
      Effect.gen(function* () {
        let asked = false
        const silent = createServer((socket) => {
          asked = true
          socket.on("error", () => {})
        })
        const port = yield* listening(silent)
        yield* Effect.addFinalizer(() => Effect.sync(() => silent.close()))
        const agent = yield* startAgent(port)
        yield* eventually("a hello", async () => asked)
        agent.kill("SIGINT")
        assert.strictEqual(yield* Effect.timeout(agent.exited, "20 seconds"), 0)
      }),
    120_000
  )

  it.live(
    "is shown with its problem by the status command, which finds the status file in the settings",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder("agent-away")
        const settings = path.join(folder, "agent.json")
        const status_file = path.join(folder, "status.json")
        fs.writeFileSync(settings, JSON.stringify({ status_file }))
        const agent = yield* startAgent(yield* freePort, ["--config", settings], folder)
        yield* waitForRetry(agent)
        const { code, said } = yield* statusOf(folder, "--config", settings)
        assert.strictEqual(code, 1)
        assert.match(said, /^worker +unknown until the service responds\nprocess +\d+\n/)
        assert.match(said, /^the agent: has not reached the service since 20\S+Z: /m)
        agent.kill("SIGTERM")
        yield* agent.exited
        const after = yield* statusOf(folder, "--config", settings)
        assert.deepStrictEqual(after, {
          code: 1,
          said: `no agent is running with the status file ${status_file}\n`
        })
      }),
    120_000
  )

  it.live(
    "has a separate status from another agent of the same user",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder("agent-away")
        const port = yield* freePort
        const other = `pwk_${"y".repeat(43)}`
        const agents = [
          yield* startAgent(port, [], folder),
          yield* startAgent(port, ["--token", other], folder)
        ]
        for (const agent of agents) yield* waitForRetry(agent)
        const both = yield* statusOf(folder)
        assert.lengthOf(both.said.match(/^process/gm) ?? [], 2)
        const one = yield* statusOf(folder, "--token", other)
        assert.lengthOf(one.said.match(/^process/gm) ?? [], 1)
      }),
    120_000
  )
})
