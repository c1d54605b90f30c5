import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import type { RequestListener, ServerResponse } from "node:http"
import { connect } from "node:net"
import {
  type Address,
  DoorCount,
  freeAddress,
  ServerOfManyDoors,
  sharedPort
} from "../../../src/http/server/Doors.ts"
import { request } from "../../support/rawHttp.ts"
import { eventually } from "../../support/ServerProcess.ts"

/** As the service opens its own. */
const startServer = Effect.fnUntraced(function* (listener: RequestListener) {
  const server = new ServerOfManyDoors(listener)
  const address = yield* freeAddress({ host: "127.0.0.1", port: 0 })
  server.listen({ ...address, ...sharedPort })
  yield* Effect.promise(() => once(server, "listening"))
  yield* server.openOthers((yield* DoorCount) - 1)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
  return { server, address }
})

const crowd = (count: number, { host, port }: Address) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Array.from({ length: count }, () => connect({ host, port }).on("error", () => {}))
    ),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  )

describe("the doors of a server", () => {
  it.live.runIf(process.platform === "linux")(
    "let a crowd in within a few rounds of the event loop",
    () =>
      Effect.gen(function* () {
        const { address, server } = yield* startServer(() => {})
        const size = 200
        let arrived = 0
        let rounds = 0
        server.on("connection", () => arrived++)
        yield* crowd(size, address)
        yield* Effect.callback<void>((resume) => {
          const nextRound = () => {
            if (arrived === size) return resume(Effect.void)
            if (arrived > 0) rounds++
            setImmediate(nextRound)
          }
          nextRound()
        })
        assert.isBelow(rounds, size / 2)
      })
  )

  it.live("are those of one process", () =>
    Effect.gen(function* () {
      const { address } = yield* startServer(() => {})
      assert.propertyVal(yield* Effect.flip(freeAddress(address)), "code", "EADDRINUSE")
    })
  )

  it.live("close for everybody, and wait for those who are inside", () =>
    Effect.gen(function* () {
      const answers: Array<ServerResponse> = []
      const { address, server } = yield* startServer((_request, response) => {
        answers.push(response)
      })
      const sockets = yield* crowd(50, address)
      for (const socket of sockets) socket.resume().write(request("GET /"))
      yield* eventually("a request of each", async () => answers.length === sockets.length)

      let isClosed = false
      server.close(() => {
        isClosed = true
      })
      yield* freeAddress(address)
      const staying = 8
      for (const answer of answers.splice(staying)) answer.setHeader("connection", "close").end()
      yield* eventually(
        "those that left",
        async () => sockets.filter(({ closed }) => closed).length === sockets.length - staying
      )
      assert.isFalse(isClosed)
      for (const answer of answers) answer.setHeader("connection", "close").end()
      yield* eventually("the end", async () => isClosed)
    })
  )
})
