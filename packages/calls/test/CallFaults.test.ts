// @tags slow
import { executionError, parseErrorLine } from "@scheduling/domain/executions/ExecutionError"
import { ResponseTruncated } from "../src/exchange/ResponseParser.ts"
import { OutgoingCalls } from "../src/OutgoingCalls.ts"
import { describeError } from "../src/describeError.ts"
import { Exchange } from "../src/exchange/Exchange.ts"
import { TlsThread } from "../src/threads/TlsThread.ts"
import { callLayer, callRequest, httpTarget, replyWith, tcpTarget } from "./support/CallTargets.ts"
import { expired, key, root } from "./support/certificates.ts"
import { afterAll, assert, beforeAll, describe, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { once } from "node:events"
import type { AddressInfo, Socket } from "node:net"
import {
  createSecureContext,
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  TLSSocket
} from "node:tls"

type OnConnection = (socket: Socket) => unknown

/** Calls the target once with a timeout of half a second. */
const callTarget = (onConnection: OnConnection, url = "http://127.0.0.1") =>
  Effect.gen(function* () {
    const port = yield* tcpTarget(onConnection)
    const call = yield* OutgoingCalls
    return yield* call.run(callRequest(`${url}:${port}/`, { timeout_seconds: 0.5 }))
  })

/** Writes the chunk repeatedly until the client closes the connection, and counts the bytes. */
const flood = (socket: Socket, chunk: string | Buffer, written: (bytes: number) => void) => {
  const more = () => {
    while (!socket.destroyed && socket.writable) {
      written(chunk.length)
      if (!socket.write(chunk)) return
    }
  }
  socket.on("drain", more)
  more()
}

const drip = (socket: Socket, chunk: string) => {
  const timer = setInterval(() => socket.write(chunk), 10)
  socket.on("close", () => clearInterval(timer))
}

const ok = "HTTP/1.1 200 OK\r\n"
const upgrade =
  "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"
/** Responds to the request with this text and closes the connection. */
const closing = (text: string) => (socket: Socket) => {
  socket.once("data", () => socket.end(text))
}

describe("a target that misbehaves", () => {
  const withoutAnswer: ReadonlyArray<readonly [string, OnConnection, RegExp]> = [
    ["hangs up at once", (socket) => socket.destroy(), /^connection (closed|reset)/],
    ["resets the connection", (socket) => socket.resetAndDestroy(), /^connection reset$/],
    [
      "closes after the request",
      closing(""),
      /^connection closed before the response was complete$/
    ],
    [
      "sends bytes before the request",
      (socket) => socket.write("SSH-2.0-x\r\n"),
      /^(connection closed|invalid HTTP)/
    ],
    ["is a mail server", replyWith("220 example.com ESMTP\r\n"), /^invalid HTTP response$/],
    ["sends half a header", replyWith(`${ok}nonsense\r\n\r\n`), /^invalid HTTP response$/],
    [
      "sends a header of 17 kB",
      replyWith(`${ok}x: ${"a".repeat(17_000)}`),
      /^response headers too large$/
    ],
    [
      "upgrades unasked",
      replyWith(upgrade),
      /^connection closed before the response was complete$/
    ],
    ["says nothing", () => {}, /^timeout after 0.5 s while waiting for the response$/],
    ["stops in a header", replyWith(`${ok}x:`), /^timeout after 0.5 s while reading the response$/]
  ]

  it.live.each(withoutAnswer)("that %s is described in words", ([, onConnection, error]) =>
    Effect.gen(function* () {
      const result = yield* callTarget(onConnection)
      assert.deepInclude(result, { status_code: null, response_body: null, outcome: "retryable" })
      assert.match(result.error?.message ?? "", error)
    }).pipe(Effect.provide(callLayer()))
  )

  const chunked = `${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`
  const sized = `${ok}content-length: 100\r\n\r\nabc`
  const halfAnswers: ReadonlyArray<readonly [string, OnConnection, string]> = [
    ["ends early", closing(sized), "connection closed before the response was complete"],
    [
      "omits its last chunk",
      closing(chunked),
      "connection closed before the response was complete"
    ],
    ["has a chunk of no size", replyWith(`${chunked}zz\r\n`), "invalid HTTP response"],
    ["stops half-way", replyWith(sized), "timeout after 0.5 s while reading the response"]
  ]

  it.live.each(halfAnswers)("with a body that %s is shown as far as it came", ([, target, error]) =>
    Effect.gen(function* () {
      const result = yield* callTarget(target)
      assert.deepInclude(result, {
        status_code: 200,
        response_body: "abc",
        outcome: "retryable"
      })
      assert.strictEqual(result.error?.message, error)
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("is cut off at the timeout even if it keeps sending single bytes", () =>
    Effect.gen(function* () {
      const result = yield* callTarget((socket) => {
        socket.write(`${ok}\r\n`)
        drip(socket, "a")
      })
      assert.deepInclude(result, { status_code: 200, outcome: "retryable" })
      assert.isBelow(result.duration_ms, 700)
      assert.match(result.response_body ?? "", /^a{1,60}$/)
    }).pipe(Effect.provide(callLayer()))
  )

  it.live(
    "has responded once 10,000 bytes have arrived, even if more arrive until the timeout",
    () =>
      Effect.gen(function* () {
        const result = yield* callTarget((socket) => {
          socket.once("data", () => {
            socket.write(`${ok}\r\n${"a".repeat(10_000)}`)
            drip(socket, "b")
          })
        })
        assert.deepInclude(result, {
          status_code: 200,
          outcome: "success",
          error: null,
          response_body: "a".repeat(10_000)
        })
      }).pipe(Effect.provide(callLayer()))
  )

  const interim = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
  const chunks = `${ok}transfer-encoding: chunked\r\n\r\n`
  const tooLong = "the response is too long"
  const endless: ReadonlyArray<readonly [string, string, string, number | null, string | null]> = [
    ["interim answers", "", interim.repeat(100), null, "response headers too large"],
    ["empty lines", "", "\r\n".repeat(1_000), null, tooLong],
    ["a status text", "HTTP/1.1 200 ", "a".repeat(10_000), null, "response headers too large"],
    ["the extensions of a chunk", `${chunks}1;`, "a".repeat(10_000), 200, tooLong],
    ["chunks of a byte", chunks, "1;extension\r\na\r\n".repeat(100), 200, null]
  ]

  it.live.each(endless)(
    "that sends %s without end is soon cut off",
    ([, start, repeated, status, error]) =>
      Effect.gen(function* () {
        let written = 0
        const port = yield* tcpTarget((socket) => {
          socket.once("data", () => {
            socket.write(start)
            flood(socket, repeated, (bytes) => (written += bytes))
          })
        })
        const call = yield* OutgoingCalls
        const result = yield* call.run(callRequest(`http://127.0.0.1:${port}/`))
        assert.strictEqual(result.status_code, status)
        assert.strictEqual(result.error?.message ?? null, error)
        // The kernel buffers some bytes on both sides.
        assert.isBelow(written, 16 * 1024 * 1024)
      }).pipe(Effect.provide(callLayer()))
  )

  it.live("may send 60,000 bytes, and its connection serves many calls", () =>
    Effect.gen(function* () {
      const ports = new Set<number | undefined>()
      const port = yield* httpTarget((request, response) => {
        ports.add(request.socket.remotePort)
        response.writeEarlyHints({ link: "</a>" })
        response.end("a".repeat(60_000))
      })
      const call = yield* OutgoingCalls
      for (let repeat = 0; repeat < 20; repeat++) {
        const result = yield* call.run(callRequest(`http://127.0.0.1:${port}/`))
        assert.deepInclude(result, { outcome: "success", error: null })
      }
      assert.strictEqual(ports.size, 1)
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("does not fill the memory with endless bodies, headers or trailers", () =>
    Effect.gen(function* () {
      const chunk = Buffer.alloc(64 * 1024, "a")
      const starts: ReadonlyArray<readonly [string, string]> = [
        [`${ok}content-length: 10000000000\r\n\r\n`, "success"],
        [`${ok}\r\n`, "success"],
        [`${ok}x: `, "retryable"],
        [`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx: `, "retryable"]
      ]
      const before = process.memoryUsage().arrayBuffers
      for (const [start, outcome] of starts) {
        for (let repeat = 0; repeat < 5; repeat++) {
          let written = 0
          const result = yield* callTarget((socket) => {
            socket.once("data", () => {
              socket.write(start)
              flood(socket, chunk, (bytes) => (written += bytes))
            })
          })
          assert.strictEqual(result.outcome, outcome)
          // The kernel buffers some bytes on both sides, but not 10 GB.
          assert.isBelow(written, 16 * 1024 * 1024)
        }
      }
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 32 * 1024 * 1024)
    }).pipe(Effect.provide(callLayer()))
  )
})

describe("without a connection", () => {
  it.live("a call to a closed port fails with a refused connection", () =>
    Effect.gen(function* () {
      const call = yield* OutgoingCalls
      const port = yield* Effect.scoped(tcpTarget(() => {}))
      const result = yield* call.run(callRequest(`http://service.test:${port}/`))
      assert.deepInclude(result, {
        outcome: "retryable",
        error: executionError("connection", "connection refused")
      })
    }).pipe(Effect.provide(callLayer()))
  )

  it.live.each([
    { code: "ENOTFOUND", error: "dns: host not found" },
    { code: "ETIMEOUT", error: "dns: name server did not respond" },
    { code: "EWEIRD", error: "connection: connection failed" }
  ])("a look-up that fails with $code is reported as: $error", ({ code, error }) => {
    const resolve = () => Promise.reject(Object.assign(new Error("secret /path"), { code }))
    return Effect.gen(function* () {
      const call = yield* OutgoingCalls
      const result = yield* call.run(callRequest("http://nowhere.test/"))
      assert.deepInclude(result, {
        outcome: "retryable",
        error: parseErrorLine(error),
        status_code: null
      })
    }).pipe(Effect.provide(callLayer({ resolve })))
  })

  it.live("the timeout covers DNS", () =>
    Effect.gen(function* () {
      const call = yield* OutgoingCalls
      const request = callRequest("http://slow.test/", { timeout_seconds: 0.1 })
      const result = yield* call.run(request)
      assert.deepStrictEqual(
        result.error,
        executionError("timeout", "timeout after 0.1 s while connecting")
      )
    }).pipe(Effect.provide(callLayer({ resolve: () => new Promise(() => {}) })))
  )

  it.live("the timeout begins when the call has one of the origin's connections", () =>
    Effect.gen(function* () {
      const port = yield* httpTarget((request, response) => {
        if (request.url === "/slow") setTimeout(() => response.end(), 300)
      })
      const call = yield* OutgoingCalls
      const run = (path: string, timeout_seconds: number) =>
        call.run(callRequest(`http://127.0.0.1:${port}${path}`, { timeout_seconds }))
      const [slow, waited] = yield* Effect.all([run("/slow", 10), run("/hang", 0.1)], {
        concurrency: "unbounded"
      })
      assert.strictEqual(slow.outcome, "success")
      assert.strictEqual(
        waited.error?.message,
        "timeout after 0.1 s while waiting for the response"
      )
    }).pipe(Effect.provide(callLayer({ limits: { perOrigin: 1 } })))
  )

  it.live("a call waits for at most one call of another workspace, not for all of them", () =>
    Effect.gen(function* () {
      const paths: Array<string | undefined> = []
      const port = yield* httpTarget((request, response) => {
        paths.push(request.url)
        response.end()
      })
      const call = yield* OutgoingCalls
      const run = (path: string, workspace_id: string) =>
        call.run(callRequest(`http://127.0.0.1:${port}${path}`, { workspace_id }))
      yield* Effect.all(
        [
          ...Array.from({ length: 20 }, () => run("/many", "many")),
          ...Array.from({ length: 3 }, () => run("/few", "few"))
        ],
        { concurrency: "unbounded" }
      )
      assert.isAtMost(paths.lastIndexOf("/few"), 6)
    }).pipe(Effect.provide(callLayer({ limits: { perOrigin: 1 } })))
  )
})

describe("connections", () => {
  // For HTTPS, the target stays silent during the handshake, so there is no connection yet.
  it.live.each([
    ["http", {}],
    ["https", {}],
    ["https", { threads: 1 }]
  ] as const)("an interrupted call over %s ends its socket (%o)", ([scheme, options]) =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const port = yield* tcpTarget((socket) => {
        socket.once("data", () => Deferred.doneUnsafe(arrived, Effect.void))
        socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      const call = yield* OutgoingCalls
      const fiber = yield* Effect.forkChild(call.run(callRequest(`${scheme}://127.0.0.1:${port}/`)))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(callLayer(options)))
  )

  it.live.each([{}, { threads: 1 }])("send nothing that may not be sent any more (%o)", (options) =>
    Effect.gen(function* () {
      let arrived = 0
      const port = yield* httpTarget((_, response) => {
        arrived++
        response.end("ok")
      })
      const call = yield* OutgoingCalls
      const url = `${"threads" in options ? "https" : "http"}://127.0.0.1:${port}/`
      const withheld = yield* Effect.exit(call.run(callRequest(url, { maySend: () => false })))
      assert.isTrue(Exit.hasInterrupts(withheld))
      assert.strictEqual(arrived, 0)
      if ("threads" in options) return
      let asked = 0
      const maySend = () => ++asked === 1
      const { outcome } = yield* call.run(callRequest(url, { maySend }))
      assert.strictEqual(outcome, "success")
      assert.strictEqual(arrived, 1)
      // The connection is already open.
      assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(call.run(callRequest(url, { maySend })))))
      assert.strictEqual(arrived, 1)
    }).pipe(Effect.provide(callLayer(options)))
  )

  it.live("are limited per origin and reused by thousands of calls", () =>
    Effect.gen(function* () {
      const ports = new Set<number | undefined>()
      const port = yield* httpTarget((request, response) => {
        ports.add(request.socket.remotePort)
        response.end("ok")
      })
      const call = yield* OutgoingCalls
      const results = yield* Effect.all(
        Array.from({ length: 2_000 }, () => call.run(callRequest(`http://127.0.0.1:${port}/`))),
        { concurrency: "unbounded" }
      )
      assert.isTrue(results.every((result) => result.outcome === "success"))
      assert.isAtMost(ports.size, 64)
    }).pipe(Effect.provide(callLayer()))
  )

  const answer = `${ok}content-length: 2\r\n\r\nok`
  const notKept: ReadonlyArray<readonly [string, string]> = [
    ["the server says that it closes it", answer.replace("\r\n", "\r\nconnection: close\r\n")],
    ["the server keeps it for a second", answer.replace("\r\n", "\r\nkeep-alive: timeout=1\r\n")],
    ["more comes than was asked for", `${answer}${answer}`]
  ]

  it.live.each(notKept)("serve one call if %s", ([, text]) =>
    Effect.gen(function* () {
      let connections = 0
      const port = yield* tcpTarget((socket) => {
        connections++
        socket.on("data", () => socket.write(text))
      })
      const call = yield* OutgoingCalls
      const run = call.run(callRequest(`http://127.0.0.1:${port}/`))
      assert.deepInclude(yield* run, { outcome: "success", response_body: "ok" })
      assert.deepInclude(yield* run, { outcome: "success", response_body: "ok" })
      assert.strictEqual(connections, 2)
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("that are idle close at the first byte that no request asked for", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const sockets: Array<Socket> = []
      const port = yield* tcpTarget((socket) => {
        sockets.push(socket)
        socket.on("data", () => socket.write(answer))
        socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      const call = yield* OutgoingCalls
      const run = call.run(callRequest(`http://127.0.0.1:${port}/`))
      assert.strictEqual((yield* run).response_body, "ok")
      sockets[0]?.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother")
      yield* Deferred.await(closed)
      assert.strictEqual((yield* run).response_body, "ok")
      assert.lengthOf(sockets, 2)
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("a call on a kept connection that was closed is sent once more on a new one", () =>
    Effect.gen(function* () {
      const requests: Array<number> = []
      let connections = 0
      const port = yield* tcpTarget((socket) => {
        const connection = ++connections
        let served = 0
        socket.on("data", () => {
          requests.push(connection)
          if (served++ > 0) socket.destroy()
          else socket.write(`${ok}content-length: 0\r\n\r\n`)
        })
      })
      const call = yield* OutgoingCalls
      const run = call.run(callRequest(`http://127.0.0.1:${port}/`))
      assert.strictEqual((yield* run).outcome, "success")
      assert.strictEqual((yield* run).outcome, "success")
      assert.deepStrictEqual(requests, [1, 1, 2])
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("a call that is cut off on a kept connection is not sent again", () =>
    Effect.gen(function* () {
      const requests: Array<number> = []
      let connections = 0
      const isWaiting = yield* Deferred.make<void>()
      const isClosed = yield* Deferred.make<void>()
      const port = yield* tcpTarget((socket) => {
        const connection = ++connections
        let served = 0
        socket.once("close", () => Deferred.doneUnsafe(isClosed, Effect.void))
        socket.on("data", () => {
          requests.push(connection)
          if (served++ > 0) Deferred.doneUnsafe(isWaiting, Effect.void)
          else socket.write(`${ok}content-length: 0\r\n\r\n`)
        })
      })
      const call = yield* OutgoingCalls
      const run = call.run(callRequest(`http://127.0.0.1:${port}/`))
      assert.strictEqual((yield* run).outcome, "success")
      const cutOff = yield* Effect.forkChild(run)
      yield* Deferred.await(isWaiting)
      yield* Fiber.interrupt(cutOff)
      yield* Deferred.await(isClosed)
      // If the aborted call had sent anything more, it would have arrived before this request.
      assert.strictEqual((yield* run).outcome, "success")
      assert.deepStrictEqual(requests, [1, 1, 2])
    }).pipe(Effect.provide(callLayer()))
  )

  it.live("close when the service stops", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const port = yield* tcpTarget((socket) => {
        replyWith(`${ok}content-length: 0\r\n\r\n`)(socket)
        socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      yield* Effect.gen(function* () {
        const call = yield* OutgoingCalls
        yield* call.run(callRequest(`http://127.0.0.1:${port}/`))
      }).pipe(Effect.provide(callLayer()))
      yield* Deferred.await(closed)
    })
  )
})

describe.each([
  ["on the main thread", {}],
  ["in a thread", { threads: 1 }]
] as const)("over TLS %s", (_where, options) => {
  const before = getCACertificates("default")
  beforeAll(() => setDefaultCACertificates([root]))
  afterAll(() => setDefaultCACertificates(before))

  /** Starting the thread takes a moment, which counts as connecting. */
  const started = Layer.tap(callLayer(options), (context) =>
    Context.get(context, OutgoingCalls).run(callRequest("https://127.0.0.1:1/"))
  )

  const tlsTarget =
    (cert: string, head = ok) =>
    (socket: Socket) => {
      const secure = new TLSSocket(socket, {
        isServer: true,
        secureContext: createSecureContext({ cert, key })
      })
      secure.on("error", () => {})
      secure.once("data", () => secure.end(`${head}content-length: 2\r\n\r\nok`))
    }

  layer(started, { excludeTestServices: true })((it) => {
    it.effect("a trusted certificate of the host is accepted", () =>
      Effect.gen(function* () {
        const result = yield* callTarget(tlsTarget(root), "https://service.test")
        assert.deepInclude(result, { outcome: "success", response_body: "ok" })
      })
    )

    it.effect("a response says that its job continues, or when to retry", () =>
      Effect.gen(function* () {
        const accepted = "HTTP/1.1 202 Accepted\r\nscheduling-complete: later\r\n"
        const busy = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 7\r\n"
        const answers = yield* Effect.forEach([accepted, busy], (head) =>
          callTarget(tlsTarget(root, head), "https://service.test")
        )
        assert.deepStrictEqual(
          answers.map(({ completes_later, retry_after_seconds }) => [
            completes_later,
            retry_after_seconds
          ]),
          [
            [true, null],
            [false, 7]
          ]
        )
      })
    )

    it.effect("the next connection to a host resumes the TLS session of the last one", () =>
      Effect.gen(function* () {
        const resumed: Array<boolean> = []
        const server = yield* Effect.acquireRelease(
          Effect.sync(() =>
            createTlsServer({ cert: root, key }, (socket) => {
              resumed.push(socket.isSessionReused())
              socket.once("data", () => socket.end(`${ok}content-length: 2\r\n\r\nok`))
            }).listen(0, "127.0.0.1")
          ),
          (listening) => Effect.sync(() => listening.close())
        )
        yield* Effect.promise(() => once(server, "listening"))
        const { port } = server.address() as AddressInfo
        const call = yield* OutgoingCalls
        const run = call.run(callRequest(`https://service.test:${port}/`))
        for (let repeat = 0; repeat < 3; repeat++) {
          assert.strictEqual((yield* run).response_body, "ok")
        }
        assert.deepStrictEqual(resumed, [false, true, true])
      })
    )

    const reset = (socket: Socket) => {
      socket.once("data", () => socket.resetAndDestroy())
    }
    const service = "https://service.test"
    const faults: ReadonlyArray<readonly [string, OnConnection, string, string]> = [
      [
        "another host",
        tlsTarget(root),
        "https://other.test",
        "tls: certificate is for another host"
      ],
      ["expiry", tlsTarget(expired), "https://expired.test", "tls: certificate has expired"],
      ["no TLS", replyWith(`${ok}\r\n`), service, "tls: TLS handshake failed"],
      ["a reset", reset, service, "connection: connection reset"],
      ["a hung-up handshake", closing(""), service, "connection: connection reset"],
      ["a silent handshake", () => {}, service, "timeout: timeout after 0.5 s while connecting"]
    ]

    it.effect.each(faults)("%s is distinguished", ([, onConnection, url, error]) =>
      Effect.gen(function* () {
        const result = yield* callTarget(onConnection, url)
        assert.deepInclude(result, {
          status_code: null,
          outcome: "retryable",
          error: parseErrorLine(error)
        })
      })
    )
  })
})

describe("a thread for TLS", () => {
  const rules = { allow: [], resolve: async () => ["127.0.0.1"] }

  it.live.each([
    ["https://127.0.0.1:1/", "address 127.0.0.1 is loopback and not allowed"],
    [
      "https://service.test/",
      "host service.test resolves to an address that is loopback and not allowed"
    ]
  ] as const)("calls no private address: %s", ([url, error]) =>
    Effect.gen(function* () {
      const call = yield* OutgoingCalls
      assert.deepInclude(yield* call.run(callRequest(url)), {
        outcome: "failed",
        error: executionError("address_refused", error)
      })
    }).pipe(Effect.provide(callLayer({ threads: 2, allow: "" })))
  )

  it.live("that crashes reports the reason, which is unknown to its calls", () =>
    Effect.gen(function* () {
      const crash = yield* Deferred.make<unknown>()
      const thread = yield* Effect.acquireRelease(
        Effect.sync(
          () => new TlsThread(rules, (error) => Deferred.doneUnsafe(crash, Exit.succeed(error)))
        ),
        (thread) => Effect.promise(() => thread.close())
      )
      const lost = new Exchange()
      const asking = yield* Effect.forkChild(
        Effect.callback<void>((resume) => {
          lost.begin(() => resume(Effect.void))
          thread.open("no origin").send({ ...outgoing, origin: "no origin" }, lost)
        }),
        { startImmediately: true }
      )
      assert.match(String(yield* Deferred.await(crash)), /Invalid URL/)
      yield* Fiber.join(asking)
      assert.instanceOf(lost.error, ResponseTruncated)
    })
  )

  it.live("that ends fails its calls, and a new one makes the next call", () =>
    Effect.gen(function* () {
      const thread = yield* Effect.acquireRelease(
        Effect.sync(() => new TlsThread(rules, (error) => assert.fail(String(error)))),
        (thread) => Effect.promise(() => thread.close())
      )
      const ask = (exchange: Exchange) =>
        Effect.callback<void>((resume) => {
          exchange.begin(() => resume(Effect.void))
          const connection = thread.open("https://127.0.0.1:1")
          connection.send({ ...outgoing, origin: "https://127.0.0.1:1" }, exchange)
        })
      yield* ask(new Exchange())
      const lost = new Exchange()
      const asking = yield* Effect.forkChild(ask(lost), { startImmediately: true })
      yield* Effect.promise(() => thread.close())
      yield* Fiber.join(asking)
      assert.instanceOf(lost.error, ResponseTruncated)
      const next = new Exchange()
      yield* ask(next)
      assert.strictEqual(next.error && describeError(next.error).code, "address_refused")
    })
  )
})

const outgoing = {
  method: "GET",
  head: () => "GET / HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n",
  body: "",
  bodyBytes: 0,
  workspace_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"
}
