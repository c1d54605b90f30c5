// @tags slow
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { once } from "node:events"
import type { RequestListener, ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { AppConfig } from "../../src/core/config/Config.ts"
import { Capacity, CapacityLimits } from "../../src/http/fairness/Capacity.ts"
import { clientOf, Clients } from "../../src/http/fairness/Clients.ts"
import { HttpServerLayer, serveRoutes } from "../../src/http/HttpServer.ts"
import { Shutdown } from "../../src/http/Shutdown.ts"
import { makeNodeServer, serverLimits } from "../../src/http/server/NodeServer.ts"
import { ask, assertErrorShape, statusAndError, times } from "../support/http.ts"
import { requestText, sendBytesTo } from "../support/rawHttp.ts"
import { eventually, listening } from "../support/ServerProcess.ts"
import { TestApp, testConfig } from "../support/TestApp.ts"

/**
 * A single client can use less than 80 KiB of this limit. The first 16 KiB of each body do not
 * count.
 */
const limits = { requests: 3, bodyBytes: 105 * 1024 }

/**
 * Starts the server with two test routes: one waits until it is released, and the other reads the
 * body.
 */
const startServerWith = Effect.fnUntraced(function* (limits: CapacityLimits) {
  const letGo = yield* Deferred.make<void>()
  let working = 0
  const answer = Effect.gen(function* () {
    const { method, text, url } = yield* HttpServerRequest.HttpServerRequest
    if (method === "POST") return HttpServerResponse.text(String((yield* text).length))
    if (url === "/work") {
      working++
      yield* Deferred.await(letGo)
    }
    return HttpServerResponse.text(url)
  })
  const server = yield* Layer.build(
    // The routes are interruptible, like those of the router.
    serveRoutes(Effect.interruptible(answer), {
      allowedMethods: () => [],
      givesCredentials: () => false
    }).pipe(
      Layer.provideMerge(Layer.fresh(HttpServerLayer)),
      Layer.provide([
        Shutdown.layer,
        Layer.succeed(AppConfig, testConfig),
        Layer.succeed(CapacityLimits, limits)
      ])
    )
  )
  const url = HttpServer.formatAddress(Context.get(server, HttpServer.HttpServer).address)
  return {
    url,
    letGo: Deferred.succeed(letGo, undefined),
    get: (path: string, headers: Readonly<Record<string, string>> = {}) =>
      Effect.provideService(ask("GET", path, { headers }), TestApp, {
        url,
        otherUrl: url,
        logs: []
      }),
    untilWorking: (count: number) =>
      eventually(`${count} requests at work`, async () => working === count)
  }
})

const startServer = startServerWith(limits)

const assertBusy = (answer: Parameters<typeof assertErrorShape>[0]) => {
  assertErrorShape(answer)
  assert.strictEqual(statusAndError(answer), "503 unavailable")
  assert.strictEqual(answer.headers.get("retry-after"), "1")
  assert.include(answer.body.detail.message, "busy")
}

/**
 * Starts clients that send these bytes and wait. Returns what each of them receives. They are
 * closed with the scope.
 */
const lingering = (url: string, count: number, bytes: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      Promise.all(
        times(count, async () => {
          const client = { socket: connect(Number(new URL(url).port), "127.0.0.1"), told: "" }
          client.socket
            .on("error", () => {})
            .setEncoding("latin1")
            .on("data", (chunk) => (client.told += chunk))
          await once(client.socket, "connect")
          client.socket.write(bytes)
          return client
        })
      )
    ),
    (clients) => Effect.sync(() => clients.forEach(({ socket }) => socket.destroy()))
  )

const halfOf = (length: number) =>
  requestText("POST /", { "content-length": String(length) }, "a".repeat(length / 2))

describe("a flood of requests", () => {
  it.live("gets a 503 with Retry-After once the limit of concurrent requests is reached", () =>
    Effect.gen(function* () {
      const { get, letGo, untilWorking } = yield* startServer
      const working = yield* Effect.forEach(
        times(3, () => "/work"),
        (path) => Effect.forkChild(get(path))
      )
      yield* untilWorking(3)
      assertBusy(yield* get("/anything"))
      assert.strictEqual((yield* get("/v1/health")).status, 200)
      yield* letGo
      for (const fiber of working) assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
      assert.strictEqual((yield* get("/anything")).status, 200)
    })
  )

  it.live("in one piece gets a response each, in order, and is handled one by one", () =>
    Effect.gen(function* () {
      const { get, letGo, untilWorking, url } = yield* startServer
      const sent = yield* Effect.forkChild(
        sendBytesTo(url, requestText("GET /work").repeat(200), { answers: 200 })
      )
      yield* untilWorking(1)
      assert.strictEqual((yield* get("/anything")).status, 200)
      yield* untilWorking(1)
      yield* letGo
      const { answers } = yield* Fiber.join(sent)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        times(200, () => 200)
      )
    })
  )

  it.live("makes room when its clients disconnect", () =>
    Effect.gen(function* () {
      const { get, untilWorking, url } = yield* startServer
      yield* Effect.scoped(
        Effect.andThen(lingering(url, 3, requestText("GET /work")), untilWorking(3))
      )
      yield* eventually("room", async () => (await fetch(url)).status === 200)
      assert.strictEqual((yield* get("/anything")).status, 200)
    })
  )

  it.live("of slow bodies keeps nobody out", () =>
    Effect.gen(function* () {
      const { get, letGo, untilWorking, url } = yield* startServer
      yield* lingering(url, 20, halfOf(1_000))
      const working = yield* Effect.forEach(
        times(3, () => "/work"),
        (path) => Effect.forkChild(get(path))
      )
      // Exactly three requests are being processed.
      yield* untilWorking(3)
      assertBusy(yield* get("/anything"))
      yield* letGo
      yield* Fiber.joinAll(working)
    })
  )
})

describe("a flood of large bodies", () => {
  it.live("is held in memory up to a bound, and small bodies are still accepted", () =>
    Effect.gen(function* () {
      const { url } = yield* startServer
      const post = async (length: number) => {
        const answer = await fetch(url, { method: "POST", body: "a".repeat(length) })
        return answer.status === 200 && (await answer.text()) === String(length)
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          // 34 KiB of each 50 KiB count, so there is capacity for two clients.
          const clients = yield* lingering(url, 4, halfOf(100 * 1024))
          const refused = () =>
            clients.filter(({ told }) => told.startsWith("HTTP/1.1 503 Service Unavailable"))
          yield* eventually("two refusals", async () => refused().length === 2)
          assert.isTrue(yield* Effect.promise(() => post(16 * 1024)))
          assert.lengthOf(refused(), 2)
        })
      )
      yield* eventually("room for a large one", () => post(95 * 1024))
    })
  )

  it.effect("is counted to the byte, and released with its requests", () =>
    Effect.gen(function* () {
      const capacity = new Capacity(limits)
      const kibibyte = 1024
      for (const [sizes, fits] of [
        [[96 * kibibyte - 1], true],
        [times(95, () => kibibyte), true],
        [[96 * kibibyte], false],
        [[16 * kibibyte, 79 * kibibyte, kibibyte], false]
      ] as const) {
        const exit = yield* Effect.exit(
          capacity.admit(new Clients().find("192.0.2.1", ""), (place) =>
            Effect.as(
              Effect.forEach(sizes, (size) => place.take(size)),
              HttpServerResponse.empty()
            )
          )
        )
        assert.strictEqual(Exit.isSuccess(exit), fits)
        assert.deepInclude(capacity, { requests: 0, bodyBytes: 0 })
      }
    })
  )
})

describe("a flood of connections", () => {
  /** Starts Node's server as the service does, but with a limit of two connections. */
  const startForTwo = Effect.fnUntraced(function* (listener: RequestListener) {
    assert.strictEqual(serverLimits.connections, 10_000)
    const server = makeNodeServer(() => {}, { ...serverLimits, connections: 2 }).on(
      "request",
      listener
    )
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
    return `http://127.0.0.1:${yield* listening(server)}`
  })

  const assertTurnedAway = Effect.fnUntraced(function* (url: string) {
    const [client] = yield* lingering(url, 1, requestText("GET /"))
    yield* eventually("an end", async () => client?.socket.closed)
    assert.strictEqual(client?.told, "")
  })

  it.live("is bounded, and idle ones make room for others", () =>
    Effect.gen(function* () {
      const url = yield* startForTwo((_request, response) => void response.end())
      const idle = yield* lingering(url, 2, requestText("GET /"))
      yield* eventually("two answers", async () => idle.every(({ told }) => told !== ""))
      yield* assertTurnedAway(url)
      yield* eventually("room", async () => (await fetch(url)).status === 200)
    })
  )

  it.live("does not close active connections", () =>
    Effect.gen(function* () {
      const answers: Array<ServerResponse> = []
      const url = yield* startForTwo((_request, response) => void answers.push(response))
      const busy = yield* lingering(url, 2, requestText("GET /"))
      yield* eventually("two requests", async () => answers.length === 2)
      yield* assertTurnedAway(url)
      for (const answer of answers) answer.end()
      yield* eventually("two answers", async () => busy.every(({ told }) => told !== ""))
    })
  )
})

describe("a flood of one client", () => {
  /** A single client can send 16 of these requests at the same time. */
  const manyLimits = { requests: 21, bodyBytes: 105 * 1024 }
  const from = (address: string, credential?: string) => ({
    "x-forwarded-for": address,
    ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` })
  })

  it.live.each([
    ["another address", from("192.0.2.1"), from("192.0.2.2")],
    ["another network", from("2001:db8::1"), from("2001:db8:0:1::1")],
    ["another credential at the same address", from("192.0.2.1", "a"), from("192.0.2.1", "b")],
    ["no credential at the same address", from("192.0.2.1", "a"), from("192.0.2.1")]
  ] as const)("leaves places for %s", ([, flooder, newcomer]) =>
    Effect.gen(function* () {
      const { get, letGo, untilWorking } = yield* startServerWith(manyLimits)
      const sent = yield* Effect.forEach(
        times(40, () => "/work"),
        (path) => Effect.forkChild(get(path, flooder))
      )
      yield* untilWorking(16)
      yield* eventually(
        "24 refusals",
        async () => sent.filter((fiber) => fiber.pollUnsafe() !== undefined).length === 24
      )
      assertBusy(yield* get("/anything", flooder))
      assert.strictEqual((yield* get("/anything", newcomer)).status, 200)
      const one = yield* Effect.forkChild(get("/work", newcomer))
      yield* untilWorking(17)
      // The more capacity another client uses, the less remains for a client that sends many
      // requests.
      assertBusy(yield* get("/anything", flooder))
      yield* letGo
      assert.strictEqual((yield* Fiber.join(one)).status, 200)
      const answers = yield* Effect.forEach(sent, Fiber.join)
      assert.lengthOf(
        answers.filter(({ status }) => status === 200),
        16
      )
      assert.strictEqual((yield* get("/anything", flooder)).status, 200)
    })
  )

  it.live("counts as one client, whatever addresses of its network it uses", () =>
    Effect.gen(function* () {
      const { get, letGo, untilWorking } = yield* startServerWith(manyLimits)
      const sent = yield* Effect.forEach(
        times(16, (index) => `2001:db8::${index.toString(16)}:1`),
        (address) => Effect.forkChild(get("/work", from(address)))
      )
      yield* untilWorking(16)
      assertBusy(yield* get("/anything", from("2001:db8::ffff")))
      yield* letGo
      yield* Effect.forEach(sent, Fiber.join)
    })
  )

  it.live("that is rejected with a large body is disconnected, and its body stays unread", () =>
    Effect.gen(function* () {
      const { get, letGo, untilWorking, url } = yield* startServer
      const sent = yield* Effect.forEach(
        times(3, () => "/work"),
        (path) => Effect.forkChild(get(path))
      )
      yield* untilWorking(3)
      const refused = yield* sendBytesTo(
        url,
        requestText("POST /", { "content-length": String(100 * 1024) }, "a".repeat(1024))
      )
      assert.deepStrictEqual(
        refused.answers.map(({ headers, status }) => `${status} ${headers.get("connection")}`),
        ["503 close"]
      )
      assert.isTrue(refused.isClosed)
      yield* letGo
      yield* Effect.forEach(sent, Fiber.join)
    })
  )
})

describe("a flood of responses that nobody reads", () => {
  /** More bytes than the kernel buffers for a connection. */
  const large = Buffer.alloc(12 * 1024 * 1024)

  const startReadable = Effect.fnUntraced(function* (
    readers: Partial<typeof serverLimits.readers>
  ) {
    const asked: Array<string> = []
    const server = makeNodeServer(() => {}, {
      ...serverLimits,
      readers: { ...serverLimits.readers, ...readers }
    }).on("request", (message, response) => {
      asked.push(message.url ?? "")
      clientOf(message, String(message.headers["x-forwarded-for"] ?? "192.0.2.1"))
      response.end(message.url === "/small" ? "small" : large)
    })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
    const url = `http://127.0.0.1:${yield* listening(server)}`
    const sockets: Array<Socket> = []
    server.on("connection", (socket) => sockets.push(socket))
    return { url, asked, isOpen: () => sockets.map(({ destroyed }) => !destroyed) }
  })

  /** Sends requests without ever reading the responses. */
  const askDeaf = (url: string, bytes: string) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {})
        await once(socket, "connect")
        socket.write(bytes)
        return socket
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )

  it.live("is one response per connection: the next request waits until it is sent", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* startReadable({})
      const socket = yield* askDeaf(url, requestText("GET /").repeat(10))
      yield* eventually("an answer", async () => asked.length === 1)
      yield* eventually("what the kernel takes", async () => socket.readableLength > 0)
      assert.lengthOf(asked, 1)
      let bytes = 0
      socket.on("data", (chunk) => (bytes += chunk.length))
      yield* eventually("all answers", async () => bytes > 10 * large.length)
      assert.lengthOf(asked, 10)
    })
  )

  it.live("ends with the connection if more requests arrive in one piece than may wait", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* startReadable({})
      const socket = yield* askDeaf(url, requestText("GET /small").repeat(1_000))
      socket.resume()
      yield* eventually("the end", async () => socket.closed)
      assert.lengthOf(asked, 251)
    })
  )

  it.live("is held in memory up to a bound: the largest client loses its oldest response", () =>
    Effect.gen(function* () {
      const { asked, isOpen, url } = yield* startReadable({ maxBytes: 3.5 * large.length })
      const askFrom = Effect.fnUntraced(function* (address: string) {
        const before = asked.length
        yield* askDeaf(url, requestText("GET /", { "x-forwarded-for": address }))
        yield* eventually("an answer", async () => asked.length === before + 1)
      })
      yield* askFrom("192.0.2.2")
      yield* Effect.forEach(
        times(5, () => "192.0.2.1"),
        askFrom
      )
      yield* eventually("three that stay", async () => isOpen().filter(Boolean).length === 3)
      assert.deepStrictEqual(isOpen(), [true, false, false, false, true, true])
    })
  )

  it.live("has a time limit, however slowly it is read", () =>
    Effect.gen(function* () {
      const { isOpen, url } = yield* startReadable({
        graceMs: 200,
        bytesPerSecond: 100 * 1024 * 1024
      })
      const socket = yield* askDeaf(url, requestText("GET /"))
      const trickle = setInterval(() => socket.read(1), 5)
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(trickle)))
      yield* eventually("a request", async () => isOpen().length === 1)
      yield* eventually("the end", async () => isOpen()[0] === false)
    })
  )

  it.live("is complete if it is read", () =>
    Effect.gen(function* () {
      const { url } = yield* startReadable({ maxBytes: 1.5 * large.length })
      for (const path of times(5, (index) => `/${index}`)) {
        const body = yield* Effect.promise(async () => (await fetch(url + path)).arrayBuffer())
        assert.strictEqual(body.byteLength, large.length)
      }
    })
  )
})
