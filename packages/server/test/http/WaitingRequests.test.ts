// @tags idle
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Principal } from "@scheduling/domain/auth/Principal"
import { ApiKeyId } from "@scheduling/domain/shared/Ids"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { AppConfig } from "../../src/core/config/Config.ts"
import { CapacityLimits } from "../../src/http/fairness/Capacity.ts"
import { HttpServerLayer, serveRoutes } from "../../src/http/HttpServer.ts"
import { Shutdown } from "../../src/http/Shutdown.ts"
import { WaitingRequests, WaitingLimits } from "../../src/http/WaitingRequests.ts"
import { EndSignals } from "../../src/events/EndSignals.ts"
import { Signals } from "../../src/events/Signals.ts"
import { ask } from "../support/http.ts"
import { eventually } from "../support/ServerProcess.ts"
import { TestApp, testConfig } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const noRoutes = { allowedMethods: () => [], givesCredentials: () => false }

const workspace = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"

/**
 * Starts a server whose records finish when the test decides. A request's path is
 * `/<client>/<id>/<wait_seconds>`.
 */
const startServer = Effect.gen(function* () {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const ended = new Set<string>()
  const reads: Array<string> = []
  /**
   * How long each request's connection is allowed to be silent, in the order of the requests'
   * reads.
   */
  const silences: Array<number | undefined> = []

  const answer = (waiting: WaitingRequests["Service"]) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const [, principal = "", id = "", seconds] = request.url.split("/")
      const [account = "", key = "1"] = principal
      const read = Effect.sync(() => {
        reads.push(id)
        silences.push(NodeHttpServerRequest.toIncomingMessage(request).socket.timeout)
        return { finished_at: ended.has(id) ? "now" : null }
      })
      const wait = {
        seconds: Number(seconds),
        workspace_id: `${workspace}-${principal}`,
        id,
        decideAgain: Effect.succeed(Effect.void)
      }
      const found = yield* waiting.untilFinished(read, wait).pipe(
        Effect.provideService(Principal, {
          kind: "api_key",
          api_key_id: ApiKeyId.make(`${workspace.slice(0, -1)}${key}`),
          workspace_id: authorize(workspace),
          lane: BigInt(account.charCodeAt(0)) << 32n,
          name: principal,
          key_prefix: principal,
          scopes: [],
          expires_at: null
        })
      )
      return HttpServerResponse.jsonUnsafe(found)
    })

  const services = Layer.fresh(
    WaitingRequests.layer.pipe(
      Layer.provideMerge(EndSignals.layer),
      Layer.provideMerge(Shutdown.layer),
      Layer.provide(Signals.layer),
      Layer.provide(Layer.succeed(WaitingLimits, { all: 22, each: 3 }))
    )
  )
  const built = yield* Scope.provide(Layer.build(services), scope)
  const serving = yield* Scope.fork(scope)
  const server = yield* Layer.build(
    serveRoutes(Effect.interruptible(answer(Context.get(built, WaitingRequests))), noRoutes).pipe(
      Layer.provideMerge(Layer.fresh(HttpServerLayer)),
      Layer.provide([
        Layer.succeed(AppConfig, testConfig),
        Layer.succeed(Shutdown, Context.get(built, Shutdown)),
        Layer.succeed(CapacityLimits, { requests: 1, bodyBytes: 1_024 })
      ])
    )
  ).pipe(Scope.provide(serving))
  const url = HttpServer.formatAddress(Context.get(server, HttpServer.HttpServer).address)
  const get = (path: string) =>
    Effect.provideService(ask("GET", path), TestApp, { url, otherUrl: url, logs: [] })
  return {
    url,
    get,
    reads,
    silences,
    tell: (id: string) => Context.get(built, EndSignals).send([id]),
    end: (id: string) => {
      ended.add(id)
      Context.get(built, EndSignals).send([id])
    },
    stop: Scope.close(serving, Exit.void),
    /** Sends a request. Continues once the request is waiting and has released its permit. */
    waitFor: Effect.fnUntraced(function* (path: string) {
      const before = reads.length
      const fiber = yield* Effect.forkChild(get(path))
      yield* eventually("a first look", async () => reads.length > before)
      yield* eventually("a free place", async () => (await fetch(`${url}/a/free/0`)).ok)
      return fiber
    })
  }
})

const readsOf = (reads: ReadonlyArray<string>, wanted: string) =>
  reads.filter((id) => id === wanted).length

layer(TestDatabaseLayer, { excludeTestServices: true, timeout: "60 seconds" })(
  "a request that waits",
  (it) => {
    it.effect("gets its response when the signal arrives, after two reads", () =>
      Effect.gen(function* () {
        const { end, reads, waitFor } = yield* startServer
        const waiting = yield* waitFor("/a/one/30")
        end("other")
        end("one")
        assert.deepStrictEqual((yield* Fiber.join(waiting)).body, { finished_at: "now" })
        assert.strictEqual(readsOf(reads, "one"), 2)
      })
    )

    it.effect("gets the current state when its time is up, after two reads", () =>
      Effect.gen(function* () {
        const { get, reads } = yield* startServer
        const answer = yield* get("/a/one/1")
        assert.deepStrictEqual(answer.body, { finished_at: null })
        assert.deepStrictEqual(reads, ["one", "one"])
      })
    )

    it.effect("continues if the run of the signal has not finished", () =>
      Effect.gen(function* () {
        const { end, reads, tell, waitFor } = yield* startServer
        const waiting = yield* waitFor("/a/chain/30")
        // A chain's first step has the same id as the chain run.
        tell("chain")
        yield* eventually("another look", async () => readsOf(reads, "chain") === 2)
        end("chain")
        assert.deepStrictEqual((yield* Fiber.join(waiting)).body, { finished_at: "now" })
        assert.strictEqual(readsOf(reads, "chain"), 3)
      })
    )

    it.effect("takes no slot of the items in progress", () =>
      Effect.gen(function* () {
        const { end, get, waitFor } = yield* startServer
        const waiting = [
          yield* waitFor("/a/one/30"),
          yield* waitFor("/b/two/30"),
          yield* waitFor("/c/three/30")
        ]
        // Only one request can read at a time.
        assert.strictEqual((yield* get("/a/none/0")).status, 200)
        for (const id of ["one", "two", "three"]) end(id)
        for (const fiber of waiting) assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
      })
    )

    it.effect("gets its response immediately if too many requests wait", () =>
      Effect.gen(function* () {
        const { end, get, waitFor } = yield* startServer
        const waiting = [
          yield* waitFor("/a/one/30"),
          yield* waitFor("/a/two/30"),
          yield* waitFor("/a/three/30")
        ]
        assert.deepStrictEqual((yield* get("/a/four/30")).body, { finished_at: null })
        for (const id of ["one", "two", "three"]) end(id)
        for (const fiber of waiting) yield* Fiber.join(fiber)
        const next = yield* waitFor("/a/four/30")
        end("four")
        assert.deepStrictEqual((yield* Fiber.join(next)).body, { finished_at: "now" })
      })
    )

    it.effect(
      "gets its response immediately if too many requests of its account wait, and no other account is affected",
      () =>
        Effect.gen(function* () {
          const { end, get, waitFor } = yield* startServer
          const ids = ["one", "two", "three", "four", "five"]
          const waiting = yield* Effect.forEach(ids, (id, nr) => waitFor(`/a${nr}/${id}/30`))
          assert.deepStrictEqual((yield* get("/a9/six/30")).body, { finished_at: null })
          const other = yield* waitFor("/b1/six/30")
          for (const id of [...ids, "six"]) end(id)
          for (const fiber of [...waiting, other]) {
            assert.deepStrictEqual((yield* Fiber.join(fiber)).body, { finished_at: "now" })
          }
        })
    )

    it.effect("makes room when its client leaves", () =>
      Effect.gen(function* () {
        const { end, reads, url, waitFor } = yield* startServer
        const leaving = new AbortController()
        const gone: Array<Promise<unknown>> = []
        for (const id of ["one", "two", "three"]) {
          gone.push(fetch(`${url}/a/${id}/30`, { signal: leaving.signal }).catch(() => undefined))
          yield* eventually("a first look", async () => reads.includes(id))
        }
        const full = yield* Effect.promise(() => fetch(`${url}/a/full/30`))
        assert.deepStrictEqual(yield* Effect.promise(() => full.json()), { finished_at: null })
        leaving.abort()
        yield* Effect.promise(() => Promise.all(gone))
        const next = yield* waitFor("/a/next/30")
        end("next")
        assert.deepStrictEqual((yield* Fiber.join(next)).body, { finished_at: "now" })
      })
    )

    it.effect("may be silent for longer than others, while it waits", () =>
      Effect.gen(function* () {
        const { end, silences, waitFor } = yield* startServer
        const waiting = yield* waitFor("/a/one/30")
        end("one")
        yield* Fiber.join(waiting)
        const [first = 0] = silences
        assert.strictEqual(silences.at(-1), first + 30_000)
      })
    )

    it.effect("gets the last state when the process stops, without delaying the stop", () =>
      Effect.gen(function* () {
        const { reads, stop, waitFor } = yield* startServer
        const waiting = yield* waitFor("/a/one/30")
        yield* stop.pipe(Effect.timeout("10 seconds"))
        const answer = yield* Fiber.join(waiting)
        assert.deepStrictEqual(answer.body, { finished_at: null })
        assert.strictEqual(answer.headers.get("connection"), "close")
        assert.strictEqual(readsOf(reads, "one"), 1)
      })
    )
  }
)
