import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { createServer, type Socket } from "node:net"
import * as tls from "node:tls"
import { vi } from "vitest"
import { databaseSocket } from "../../../src/store/pool/databaseSocket.ts"
import { type Database, postgresLayer } from "../../../src/store/Sql.ts"
import { callLayer, nodeLayer } from "../../engine/runner/support/engine.ts"
import { eventually } from "../../engine/runner/support/tasks.ts"
import { key, root } from "@scheduling/calls/testing/certificates"
import { listening } from "../../support/ServerProcess.ts"
import { startTcpProxy } from "../../support/TcpProxy.ts"
import { freshDatabaseUrl, onPostgres, testDatabaseUrl } from "../../support/TestDatabase.ts"

const until = (condition: () => boolean) => eventually(Effect.sync(condition), (met) => met)

describe("the watch on a database connection", () => {
  const silenceMs = 5_000
  /** The number of checks during a silence, as in `databaseSocket.ts`. */
  const checks = 5

  // The test decides when checks run. Between the checks, bytes are sent over a real connection.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }))
  afterEach(() => void vi.useRealTimers())

  const check = (times = 1) =>
    Effect.sync(() => vi.advanceTimersByTime((times * silenceMs) / checks))

  /** Connects a monitored socket to a server. */
  const connected = Effect.gen(function* () {
    const peers: Array<Socket> = []
    const server = createServer((peer) => void peers.push(peer.on("error", () => {})))
    const port = yield* listening(server)
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => databaseSocket(`postgres://127.0.0.1:${port}/database`, silenceMs)),
      (socket) =>
        Effect.sync(() => {
          socket.destroy()
          for (const peer of peers) peer.destroy()
          server.close()
        })
    )
    let error: Error | undefined
    socket.on("error", (thrown) => {
      error = thrown
    })
    yield* until(() => peers.length > 0 && !socket.connecting)
    const peer = peers[0] ?? assert.fail("no peer")
    return { error: () => error, peer, socket }
  })

  it.live("closes the connection when the server does not respond in time, and not before", () =>
    Effect.gen(function* () {
      const { error, socket } = yield* connected
      socket.resume().write("question")
      // The first check notices that a statement was sent, which starts the period of silence.
      yield* check(checks)
      assert.isFalse(socket.destroyed)
      yield* check()
      yield* until(() => error() !== undefined)
      assert.strictEqual(error()?.message, "the database sent nothing for 5 s")
    })
  )

  it.live("gives a statement after an idle period its whole time", () =>
    Effect.gen(function* () {
      const { socket } = yield* connected
      socket.resume()
      yield* check(checks - 1)
      socket.write("question")
      yield* check(checks)
      assert.isFalse(socket.destroyed)
      // Another statement does not give a silent server more time.
      socket.write("another")
      yield* check()
      assert.isTrue(socket.destroyed)
    })
  )

  it.live("keeps a connection whose server responds, however slowly", () =>
    Effect.gen(function* () {
      const { error, peer, socket } = yield* connected
      let answers = 0
      socket.on("data", () => answers++)
      for (let round = 1; round <= 3; round++) {
        socket.write("question")
        yield* check(checks)
        peer.write("answer")
        yield* until(() => answers === round)
        yield* check()
      }
      assert.isFalse(socket.destroyed)
      assert.isUndefined(error())
    })
  )

  it.live("does not mistake a paused socket for a silent server", () =>
    Effect.gen(function* () {
      const { peer, socket } = yield* connected
      let heard = ""
      socket.on("data", (chunk) => {
        heard += chunk.toString()
      })
      socket.pause()
      peer.write("answer")
      yield* check(3 * checks)
      assert.isFalse(socket.destroyed)
      socket.resume()
      yield* until(() => heard === "answer")
      yield* check(1 + checks)
      assert.isTrue(socket.destroyed)
    })
  )

  it.live("closes a connection that nobody uses", () =>
    Effect.gen(function* () {
      const { error, socket } = yield* connected
      socket.resume()
      yield* check(checks - 1)
      assert.isFalse(socket.destroyed)
      yield* check()
      yield* until(() => error() !== undefined)
      assert.isTrue(socket.destroyed)
    })
  )

  it.live("ends with the connection", () =>
    Effect.gen(function* () {
      const { socket } = yield* connected
      assert.strictEqual(vi.getTimerCount(), 1)
      socket.resume().destroy()
      yield* until(() => vi.getTimerCount() === 0)
    })
  )

  it.live("counts the bytes of TLS", () =>
    Effect.gen(function* () {
      const { error, peer, socket } = yield* connected
      const answering = new tls.TLSSocket(peer, { isServer: true, key, cert: root })
      answering.on("error", () => {})
      const asking = tls.connect({ socket, ca: root, servername: "service.test" })
      asking.on("error", () => {})
      let answers = 0
      asking.on("data", () => answers++)
      for (let round = 1; round <= 3; round++) {
        asking.write("question")
        yield* check(checks - 1)
        answering.write("answer")
        yield* until(() => answers === round)
        yield* check()
      }
      assert.isFalse(socket.destroyed)
      asking.write("question")
      yield* check(1 + checks)
      yield* until(() => asking.destroyed)
      assert.strictEqual(error()?.message, "the database sent nothing for 5 s")
    })
  )
})

const silenceMs = 1_000

/**
 * Creates a pool on a network that can fail. `loseConnections` drops all open connections without
 * informing either side.
 */
const onLossyNetwork = <A, E>(
  test: (loseConnections: Effect.Effect<void>) => Effect.Effect<A, E, Database>
) =>
  Effect.gen(function* () {
    const network = yield* startTcpProxy(yield* freshDatabaseUrl(testDatabaseUrl ?? ""))
    const loseConnections = Effect.andThen(network.cut, network.heal("stay lost"))
    return yield* test(loseConnections).pipe(
      Effect.provide(
        postgresLayer({ url: Redacted.make(network.url), maxConnections: 1, silenceMs })
      )
    )
  })

describe.skipIf(!onPostgres)("a database connection that was lost silently", () => {
  it.live("soon fails its statements and is replaced, but a slow connection is kept", () =>
    onLossyNetwork((loseConnections) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT 1 AS n FROM pg_sleep(0.7)`, [{ n: 1 }])
        yield* loseConnections
        const error = yield* Effect.flip(sql`SELECT 2 AS n`).pipe(Effect.timeout(3 * silenceMs))
        assert(SqlError.isSqlError(error))
        assert.strictEqual(error.reason._tag, "ConnectionError")
        assert.deepStrictEqual(yield* sql`SELECT 3 AS n`, [{ n: 3 }])
      })
    )
  )

  it.live("does not keep a node from renewing its lease", () =>
    onLossyNetwork((loseConnections) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const renewedAfterLoss = sql`
          SELECT id
          FROM nodes
          WHERE died_at IS NULL
            AND lease_until > started_at + interval '8 seconds'`
        yield* loseConnections
        yield* eventually(
          Effect.orElseSucceed(renewedAfterLoss, () => []),
          (nodes) => nodes.length > 0
        )
      }).pipe(
        Effect.provide(
          nodeLayer(
            callLayer(() => Effect.succeed({})),
            { leaseMs: 2_000 }
          )
        )
      )
    )
  )
})
