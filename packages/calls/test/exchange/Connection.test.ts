import { assert, describe, it } from "@effect/vitest"
import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import { Effect, Schema } from "effect"
import type { Socket } from "node:net"
import { Client, type Dispatcher, errors } from "undici"
import { OutgoingCalls } from "../../src/OutgoingCalls.ts"
import { callLayer, callRequest, tcpTarget } from "../support/CallTargets.ts"

/** A client's result for one response. The failure is the code of an execution's error. */
interface Result {
  readonly status: number | null
  readonly body: string
  readonly failure: "invalid_response" | "connection" | null
}

/** A client's results for consecutive requests, and the number of connections it used. */
interface Exchanged {
  readonly results: ReadonlyArray<Result>
  readonly connections: number
}

/** The bytes that the server sends after a request, and whether it then closes the connection. */
interface Reply {
  readonly pieces: ReadonlyArray<string>
  readonly hangsUp: boolean
}

const headEnd = "\r\n\r\n"

/**
 * Starts a server that sends the n-th reply to the n-th request, on whichever connection the
 * request arrives.
 */
const serverOf = Effect.fnUntraced(function* (replies: ReadonlyArray<Reply>) {
  let connections = 0
  let requests = 0
  const answer = async (socket: Socket) => {
    const { hangsUp, pieces } = replies[requests++] ?? { pieces: [], hangsUp: true }
    for (const piece of pieces) {
      socket.write(piece, "latin1")
      await new Promise(setImmediate)
    }
    if (hangsUp) socket.end()
  }
  const port = yield* tcpTarget((socket) => {
    connections++
    socket.setNoDelay(true)
    socket.on("data", (bytes) => {
      if (bytes.includes(headEnd)) void answer(socket)
    })
  })
  return { url: `http://127.0.0.1:${port}/`, connections: () => connections }
})

/** An error status such as 500 fails the call, but not the HTTP exchange. */
const failureOf = (error: ExecutionError | null): Result["failure"] => {
  if (error === null || error.code === "http_status") return null
  if (error.code === "connection" || error.code === "invalid_response") return error.code
  return assert.fail(error.message)
}

const byUs = Effect.fnUntraced(function* (replies: ReadonlyArray<Reply>, method: "GET" | "HEAD") {
  const { connections, url } = yield* serverOf(replies)
  const call = yield* OutgoingCalls
  const results = yield* Effect.forEach(replies, () =>
    Effect.map(
      call.run(callRequest(url, { method })),
      ({ error, response_body, status_code }): Result => ({
        status: status_code,
        body: response_body ?? "",
        failure: failureOf(error)
      })
    )
  )
  return { results, connections: connections() } satisfies Exchanged
})

const failureOfUndici = (error: Error, status: number | null): Result["failure"] => {
  if (error instanceof errors.HeadersOverflowError) return "invalid_response"
  if (error instanceof errors.SocketError) return "connection"
  // undici reports a second `Content-Length` as the same error, without a status.
  if (error instanceof errors.ResponseContentLengthMismatchError) {
    return status === null ? "invalid_response" : "connection"
  }
  if (error instanceof errors.HTTPParserError) {
    return error.message.includes("EOF") ? "connection" : "invalid_response"
  }
  return assert.fail(`${error.name}: ${error.message}`)
}

const dispatch = (client: Client, method: "GET" | "HEAD") =>
  Effect.callback<Result>((resume) => {
    let status: number | null = null
    const body: Array<Buffer> = []
    const end = (failure: Result["failure"]) =>
      resume(Effect.succeed({ status, body: Buffer.concat(body).toString(), failure }))
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart: (_, statusCode) => {
        if (statusCode >= 200) status = statusCode
      },
      onResponseData: (_, chunk) => void body.push(chunk),
      onResponseEnd: () => end(null),
      onResponseError: (_, error) => end(failureOfUndici(error, status))
    }
    client.dispatch({ path: "/", method }, handler)
  })

const byUndici = Effect.fnUntraced(function* (
  replies: ReadonlyArray<Reply>,
  method: "GET" | "HEAD"
) {
  const { connections, url } = yield* serverOf(replies)
  const client = yield* Effect.acquireRelease(
    Effect.sync(() => new Client(url, { maxHeaderSize: 16 * 1024 })),
    (client) => Effect.promise(() => client.destroy())
  )
  const results = yield* Effect.forEach(replies, () => dispatch(client, method))
  return { results, connections: connections() } satisfies Exchanged
})

const bothWays = (replies: ReadonlyArray<Reply>, method: "GET" | "HEAD" = "GET") =>
  Effect.all([byUs(replies, method), byUndici(replies, method)]).pipe(Effect.provide(callLayer()))

const statusLine = Schema.Literals([
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 200\r\n",
  "HTTP/1.0 200 OK\r\n",
  "HTTP/1.1 204 No Content\r\n",
  "HTTP/1.1 304 Not Modified\r\n",
  "HTTP/1.1 503 Busy\r\n",
  "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n",
  "\r\nHTTP/1.1 200 OK\r\n",
  "HTTP/1.1 20 OK\r\n",
  "SSH-2.0-x\r\n"
])

const field = Schema.Literals([
  "content-length: 3\r\n",
  "content-length: 0\r\n",
  "Content-Length:  6\r\n",
  "content-length: +3\r\n",
  "transfer-encoding: chunked\r\n",
  "Transfer-Encoding: gzip, Chunked\r\n",
  "transfer-encoding: gzip\r\n",
  "connection: close\r\n",
  "connection: keep-alive\r\n",
  "x:\r\n",
  "x: \u00e9\r\n",
  `x: ${"a".repeat(20_000)}\r\n`,
  "x : y\r\n",
  " x\r\n",
  "x: y\nz: a\r\n",
  "x: \0\r\n"
])

const bodyPiece = Schema.Literals([
  "abc",
  "3\r\nabc\r\n",
  "00A;x=y\r\n0123456789\r\n",
  "3\r\nab",
  "3\nabc\r\n",
  "3\r\nabc\n",
  "3 \r\nabc\r\n",
  "x\r\n",
  "0\r\n\r\n",
  "0\r\nx: y\r\n\r\n",
  "HTTP/1.1 200 OK\r\n\r\n"
])

/** Responses that are complete without closing the connection, some of them with excess bytes. */
const answer = Schema.Literals([
  "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx: y\r\n\r\n",
  "HTTP/1.1 204 No Content\r\n\r\n",
  "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 Busy\r\nkeep-alive: timeout=30\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\nabc",
  "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcabc",
  "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
])

const upTo = <A extends Schema.Top>(count: number, of: A) =>
  Schema.Array(of).check(Schema.isMaxLength(count))

const method = Schema.Literals(["GET", "GET", "GET", "HEAD"])

/** Responses that make undici fail or violate RFC 9112 are covered by the parser's tests. */
describe("compared with undici's client, this client", () => {
  it.live.prop(
    "reads valid and broken answers in the same way, in whatever pieces they arrive",
    [statusLine, upTo(3, field), upTo(4, bodyPiece), method],
    ([first, fields, body, asked]) =>
      Effect.gen(function* () {
        const pieces = [`${first}${fields.join("")}\r\n`, ...body]
        const [us, undici] = yield* bothWays([{ pieces, hangsUp: true }], asked)
        assert.deepStrictEqual(us, undici, JSON.stringify([us, undici]))
      }),
    { arbitrary: { runs: 300 }, timeout: 60_000 }
  )

  it.live.prop(
    "reuses a connection after the same responses",
    [Schema.NonEmptyArray(answer).check(Schema.isMaxLength(4))],
    ([answers]) =>
      Effect.gen(function* () {
        const replies = answers.map((text) => ({ pieces: [text], hangsUp: false }))
        const [us, undici] = yield* bothWays(replies)
        assert.deepStrictEqual(us, undici, JSON.stringify([us, undici]))
      }),
    { arbitrary: { runs: 200 }, timeout: 60_000 }
  )
})
