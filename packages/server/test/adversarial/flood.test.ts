import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { once } from "node:events"
import type { RequestListener, ServerResponse } from "node:http"
import { connect } from "node:net"
import { AppConfig } from "../../src/Config.ts"
import { Capacity, CapacityLimits } from "../../src/platform/Capacity.ts"
import { Clients } from "../../src/platform/Clients.ts"
import { HttpServerLayer, serve } from "../../src/platform/HttpServer.ts"
import { Stopping } from "../../src/platform/Stopping.ts"
import { makeNodeServer } from "../../src/platform/NodeServer.ts"
import { ask, assertShape, outcome, times } from "../support/http.ts"
import { request, talkTo } from "../support/rawHttp.ts"
import { eventually, listening } from "../support/ServerProcess.ts"
import { TestApp, testConfig } from "../support/TestApp.ts"

/** Of the bytes a client alone may hold less than 80 KiB, beyond the first 16 of each body. */
const limits = { requests: 3, bodyBytes: 105 * 1024 }

/** The server with routes of our own: one that works until it is let go, and one that reads. */
const startServer = Effect.gen(function* () {
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
    // Interruptible, as the router makes its routes.
    serve(Effect.interruptible(answer), {
      allowedMethods: () => [],
      givesCredentials: () => false
    }).pipe(
      Layer.provideMerge(Layer.fresh(HttpServerLayer)),
      Layer.provide([
        Stopping.layer,
        Layer.succeed(AppConfig, testConfig),
        Layer.succeed(CapacityLimits, limits)
      ])
    )
  )
  const url = HttpServer.formatAddress(Context.get(server, HttpServer.HttpServer).address)
  return {
    url,
    letGo: Deferred.succeed(letGo, undefined),
    get: (path: string) =>
      Effect.provideService(ask("GET", path), TestApp, { url, otherUrl: url, logs: [] }),
    untilWorking: (count: number) =>
      eventually(`${count} requests at work`, async () => working === count)
  }
})

const assertBusy = (answer: Parameters<typeof assertShape>[0]) => {
  assertShape(answer)
  assert.strictEqual(outcome(answer), "503 unavailable")
  assert.strictEqual(answer.headers.get("retry-after"), "1")
  assert.include(answer.body.detail.message, "busy")
}

/** Clients that say this and wait, with what they were told; gone with the scope. */
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
  request("POST /", { "content-length": String(length) }, "a".repeat(length / 2))

describe("a flood of requests", () => {
  it.live("is told to come back, once as many as there may be are worked on", () =>
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

  it.live("in one piece gets an answer each, in order, and is worked on one by one", () =>
    Effect.gen(function* () {
      const { get, letGo, untilWorking, url } = yield* startServer
      const sent = yield* Effect.forkChild(
        talkTo(url, request("GET /work").repeat(200), { answers: 200 })
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

  it.live("makes room again by leaving", () =>
    Effect.gen(function* () {
      const { get, untilWorking, url } = yield* startServer
      yield* Effect.scoped(Effect.andThen(lingering(url, 3, request("GET /work")), untilWorking(3)))
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
      // Not one fewer, and not one more.
      yield* untilWorking(3)
      assertBusy(yield* get("/anything"))
      yield* letGo
      yield* Fiber.joinAll(working)
    })
  )
})

describe("a flood of large bodies", () => {
  it.live("is held in memory up to a bound, and small ones still come through", () =>
    Effect.gen(function* () {
      const { url } = yield* startServer
      const post = async (length: number) => {
        const answer = await fetch(url, { method: "POST", body: "a".repeat(length) })
        return answer.status === 200 && (await answer.text()) === String(length)
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          // 34 of 50 KiB count of each, and there is room for two.
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

  it.effect("is counted to the byte, and forgotten with its requests", () =>
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
  /** Node's server as we make it, but for two connections. */
  const startForTwo = Effect.fnUntraced(function* (listener: RequestListener) {
    const server = makeNodeServer(() => {}).on("request", listener)
    assert.strictEqual(server.maxConnections, 10_000)
    server.maxConnections = 2
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
    return `http://127.0.0.1:${yield* listening(server)}`
  })

  const assertTurnedAway = Effect.fnUntraced(function* (url: string) {
    const [client] = yield* lingering(url, 1, request("GET /"))
    yield* eventually("an end", async () => client?.socket.closed)
    assert.strictEqual(client?.told, "")
  })

  it.live("is bounded, and idle ones make room for others", () =>
    Effect.gen(function* () {
      const url = yield* startForTwo((_request, response) => void response.end())
      const idle = yield* lingering(url, 2, request("GET /"))
      yield* eventually("two answers", async () => idle.every(({ told }) => told !== ""))
      yield* assertTurnedAway(url)
      yield* eventually("room", async () => (await fetch(url)).status === 200)
    })
  )

  it.live("does not end those that have something to do", () =>
    Effect.gen(function* () {
      const answers: Array<ServerResponse> = []
      const url = yield* startForTwo((_request, response) => void answers.push(response))
      const busy = yield* lingering(url, 2, request("GET /"))
      yield* eventually("two requests", async () => answers.length === 2)
      yield* assertTurnedAway(url)
      for (const answer of answers) answer.end()
      yield* eventually("two answers", async () => busy.every(({ told }) => told !== ""))
    })
  )
})
