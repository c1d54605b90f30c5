import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:net"
import * as path from "node:path"
import {
  eventually,
  freePort,
  listening,
  temporaryFolder
} from "../../server/test/support/ServerProcess.ts"
import { startCommand, token } from "./support/command.ts"

/** An agent that asks for its service at this port. */
const startAgent = Effect.fnUntraced(function* (port: number) {
  const folder = yield* temporaryFolder("agent-away")
  const file = path.join(folder, "status.json")
  const url = `http://127.0.0.1:${port}`
  const agent = yield* startCommand(["run", "--status-file", file], {
    SCHEDULING_URL: url,
    SCHEDULING_WORKER_TOKEN: token
  })
  return { ...agent, file, url }
})

describe("an agent whose service is away", () => {
  it.live(
    "ends with 0 soon after SIGTERM, although nobody has answered its hello",
    () =>
      Effect.gen(function* () {
        const agent = yield* startAgent(yield* freePort)
        yield* eventually("a refused hello", async () => agent.output().includes("trying again"))
        agent.kill("SIGTERM")
        assert.strictEqual(yield* Effect.timeout(agent.exited, "20 seconds"), 0)
      }),
    60_000
  )

  it.live(
    "ends with 0 soon after SIGINT, while it waits for an answer",
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
    60_000
  )
})
