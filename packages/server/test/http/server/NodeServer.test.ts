// @tags idle
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import type { RequestListener } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { makeNodeServer, serverLimits } from "../../../src/http/server/NodeServer.ts"
import { requestText, sendBytesTo } from "../../support/rawHttp.ts"

/**
 * Starts a server that closes a connection after 100 ms of silence instead of 15 s. Its other
 * limits are short too.
 */
const impatient = (listener: RequestListener) =>
  Effect.gen(function* () {
    const warnings: Array<string> = []
    const server = makeNodeServer((message, id) => warnings.push(`${message} ${id}`), {
      ...serverLimits,
      headersTimeout: 200,
      requestTimeout: 300,
      connectionsCheckingInterval: 20,
      readers: { graceMs: 1_000, bytesPerSecond: 1024 * 1024, maxBytes: 8 * 1024 * 1024 }
    })
    server.timeout = 100
    server.on("request", listener)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
    yield* Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, warnings }
  })

describe("Limits of the Node server", () => {
  it("bounds headers, silence and slow requests", () => {
    const server = makeNodeServer(() => {})
    assert.deepInclude(server, {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      timeout: 15_000
    })
  })

  it.live(
    "responds with 503 for a request that gets no response in time, and says so in the logs",
    () =>
      Effect.gen(function* () {
        const { url, warnings } = yield* impatient(() => {})
        const { answers } = yield* sendBytesTo(
          url,
          requestText("GET /", { "x-request-id": "slow-1" })
        )
        assert.strictEqual(answers[0]?.status, 503)
        assert.strictEqual(answers[0]?.headers.get("retry-after"), "1")
        assert.strictEqual(answers[0]?.headers.get("x-request-id"), "slow-1")
        assert.strictEqual(answers[0]?.headers.get("connection"), "close")
        assert.strictEqual(answers[0]?.body.detail.error, "unavailable")
        assert.deepStrictEqual(warnings, ["no response within 15 s slow-1"])
      })
  )

  it.live("interrupts the handler of a request that timed out", () =>
    Effect.gen(function* () {
      let isReleased = false
      const { url } = yield* impatient((_request, response) => {
        response.on("close", () => {
          isReleased = !response.writableEnded
        })
      })
      yield* sendBytesTo(url, requestText("GET /"))
      assert.isTrue(isReleased)
    })
  )

  it.live("responds with 408 if a body stops arriving", () =>
    Effect.gen(function* () {
      const { url, warnings } = yield* impatient((message) => message.resume())
      const { answers } = yield* sendBytesTo(
        url,
        requestText("POST /", { "content-length": "9" }, "{")
      )
      assert.strictEqual(answers[0]?.status, 408)
      assert.strictEqual(answers[0]?.body.detail.error, "request_timeout")
      assert.deepStrictEqual(warnings, [])
    })
  )

  it.live("responds with 408 for a body that is awaited with Expect: 100-continue", () =>
    Effect.gen(function* () {
      const { url } = yield* impatient(() => {})
      const { answers } = yield* sendBytesTo(
        url,
        requestText("POST /", { "content-length": "9", expect: "100-continue" })
      )
      assert.strictEqual(answers[0]?.status, 408)
    })
  )

  it.live.each<readonly [what: string, start: string, drop: string]>([
    ["headers", "GET / HTTP/1.1\r\nhost: test\r\n", "x-a: a\r\n"],
    ["a body", requestText("POST /", { "content-length": "1000" }), "a"],
    ["chunks", requestText("POST /", { "transfer-encoding": "chunked" }), "1\r\na\r\n"]
  ])("answers 408 for %s that drip, and never pause", ([, start, drop]) =>
    Effect.gen(function* () {
      const { url } = yield* impatient((message) => message.resume())
      const { answers, isClosed } = yield* sendBytesTo(url, start, {
        afterwards: (socket) => {
          const drip = setInterval(() => socket.write(drop), 50)
          socket.once("close", () => clearInterval(drip))
        }
      })
      assert.deepStrictEqual(
        answers.map(({ body, status }) => `${status} ${body.detail.error}`),
        ["408 request_timeout"]
      )
      assert.isTrue(isClosed)
    })
  )

  it.live("does not wait for a connection that was never used when it stops", () =>
    Effect.gen(function* () {
      const server = makeNodeServer(() => {})
      server.listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const unused = connect((server.address() as AddressInfo).port)
      yield* Effect.promise(() => once(server, "connection"))
      const closed = Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
      })
      yield* closed.pipe(Effect.timeout("5 seconds"))
      yield* Effect.promise(() => once(unused, "close"))
    })
  )

  it.live("closes the connection of a client that sends nothing or stops reading", () =>
    Effect.gen(function* () {
      const { url } = yield* impatient((_request, response) => {
        response.writeHead(200, { "content-length": "100" })
        response.write("the first of it")
      })
      const silent = yield* sendBytesTo(url, "GET / HTT")
      assert.deepStrictEqual(silent, { answers: [], isClosed: true })
      const cut = yield* sendBytesTo(url, requestText("GET /"))
      assert.strictEqual(cut.answers.length, 1)
      assert.strictEqual(cut.answers[0]?.body, "the first of it")
    })
  )
})
