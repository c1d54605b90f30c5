import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { afterAll, beforeAll } from "vitest"
import { OutgoingCalls, type PreparedCall } from "../src/OutgoingCalls.ts"
import type { CallResult } from "../src/CallResult.ts"
import { key, root } from "./support/certificates.ts"
import { callLayer, callRequest } from "./support/CallTargets.ts"

const makeReady = (url: string, { connects = true, atMs = 0, inMillis = 100 } = {}) =>
  Effect.map(OutgoingCalls, (call) =>
    call.makeReady(callRequest(url), { atMs, inMillis }, connects)
  )

const startCall = (call: PreparedCall) =>
  Effect.callback<CallResult>((resume) => {
    call.begin(resume)
  })

const until = (isSo: () => boolean) =>
  Effect.sleep(5).pipe(Effect.repeat({ until: isSo, times: 2_000 }))

/** Responds to every request, and records the open connections and the signatures. */
const listen = (isSecure: boolean) =>
  Effect.gen(function* () {
    const seen = { connections: 0, signedAt: new Array<number>() }
    const answer: RequestListener = (request, response) => {
      seen.signedAt.push(Number(request.headers["webhook-timestamp"]))
      response.end("ok")
    }
    const server = isSecure ? createTlsServer({ cert: root, key }, answer) : createServer(answer)
    server.on(isSecure ? "secureConnection" : "connection", () => seen.connections++)
    yield* Effect.acquireRelease(
      Effect.callback((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    const { port } = server.address() as AddressInfo
    return { seen, url: `${isSecure ? "https" : "http"}://service.test:${port}/` }
  })

describe.each([
  ["without TLS", false, {}],
  ["over TLS on the main thread", true, {}],
  ["over TLS in a thread", true, { threads: 1 }]
])("a call made ready %s", (_where, isSecure, options) => {
  const before = getCACertificates("default")
  beforeAll(() => setDefaultCACertificates([root]))
  afterAll(() => setDefaultCACertificates(before))

  layer(callLayer(options), { excludeTestServices: true })((it) => {
    it.effect("has its connection before it begins", () =>
      Effect.gen(function* () {
        const { seen, url } = yield* listen(isSecure)
        // Preparing two calls that are due at the same moment can take long on a busy machine.
        const calls = yield* Effect.forEach([150, 100, 50], (inMillis) =>
          makeReady(url, { inMillis })
        )
        yield* until(() => seen.connections === 3)
        assert.deepStrictEqual(seen, { connections: 3, signedAt: [] })
        const results = yield* Effect.forEach(calls, startCall, { concurrency: "unbounded" })
        assert.isTrue(results.every(({ response_body }) => response_body === "ok"))
        assert.strictEqual(seen.connections, 3)
      })
    )

    it.effect("goes over a connection that is not open yet", () =>
      Effect.gen(function* () {
        const { seen, url } = yield* listen(isSecure)
        const result = yield* Effect.flatMap(makeReady(url), startCall)
        assert.strictEqual(result.response_body, "ok")
        assert.strictEqual(seen.connections, 1)
      })
    )

    it.effect("shares its connection with calls that are due at other times", () =>
      Effect.gen(function* () {
        const { seen, url } = yield* listen(isSecure)
        const calls = yield* Effect.forEach([100, 150, 200], (atMs) => makeReady(url, { atMs }))
        for (const call of calls) assert.strictEqual((yield* startCall(call)).response_body, "ok")
        assert.strictEqual(seen.connections, 1)
      })
    )

    it.effect("opens no connection unless requested", () =>
      Effect.gen(function* () {
        const { seen, url } = yield* listen(isSecure)
        const waiting = yield* makeReady(url, { connects: false })
        const other = yield* Effect.flatMap(OutgoingCalls, (call) => call.run(callRequest(url)))
        assert.strictEqual(other.response_body, "ok")
        assert.strictEqual(seen.connections, 1)
        assert.strictEqual((yield* startCall(waiting)).response_body, "ok")
      })
    )

    it.effect("has the signature of the second in which it is sent", () =>
      Effect.gen(function* () {
        const { seen, url } = yield* listen(isSecure)
        const call = yield* makeReady(url, { inMillis: 60_000 })
        const now = Math.floor(Date.now() / 1_000)
        yield* startCall(call)
        assert.closeTo(seen.signedAt[0] ?? 0, now, 20)
      })
    )

    it.effect("releases its connection to other calls if it never begins", () =>
      Effect.gen(function* () {
        const { seen, url } = yield* listen(isSecure)
        const dropped = yield* makeReady(url)
        yield* until(() => seen.connections === 1)
        dropped.drop()
        const result = yield* Effect.flatMap(OutgoingCalls, (call) => call.run(callRequest(url)))
        assert.strictEqual(result.response_body, "ok")
        assert.deepInclude(seen, { connections: 1 })
        assert.lengthOf(seen.signedAt, 1)
      })
    )

    it.effect("reports why it cannot connect", () =>
      Effect.gen(function* () {
        const { url } = yield* Effect.scoped(listen(isSecure))
        const call = yield* makeReady(url)
        yield* Effect.sleep(50)
        const { error, outcome } = yield* startCall(call)
        assert.deepStrictEqual([outcome, error?.code], ["retryable", "connection"])
      })
    )
  })
})

describe("connections opened ahead", () => {
  it.live("are limited by the connections to an origin", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* listen(false)
      const calls = yield* Effect.replicateEffect(makeReady(url), 5)
      yield* until(() => seen.connections === 2)
      yield* Effect.forEach(calls, startCall, { concurrency: "unbounded" })
      assert.strictEqual(seen.connections, 2)
    }).pipe(Effect.provide(callLayer({ limits: { perOrigin: 2 } })))
  )

  it.live("are limited by the idle connections", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* listen(false)
      const calls = yield* Effect.replicateEffect(makeReady(url), 5)
      yield* until(() => seen.connections > 0)
      yield* Effect.sleep(50)
      assert.strictEqual(seen.connections, 1)
      for (const call of calls) assert.strictEqual((yield* startCall(call)).response_body, "ok")
    }).pipe(Effect.provide(callLayer({ limits: { idle: 1 } })))
  )
})
