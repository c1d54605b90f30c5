import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { connect, type Socket } from "node:net"
import { ask } from "./http.ts"
import { TestApp } from "./TestApp.ts"

export interface RawResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the body
  readonly body: any
}

export interface RawExchange {
  readonly answers: ReadonlyArray<RawResponse>
  /** True if the server closed the connection. */
  readonly isClosed: boolean
}

const parse = (text: string): Array<RawResponse> => {
  const answers: Array<RawResponse> = []
  let rest = text
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n")
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n")
    const headers = new Map(
      lines.map((line) => {
        const [name = "", ...value] = line.split(": ")
        return [name.toLowerCase(), value.join(": ")] as const
      })
    )
    const bodyStart = end + 4
    const bodyEnd = bodyStart + Number(headers.get("content-length") ?? 0)
    const body = rest.slice(bodyStart, bodyEnd)
    answers.push({
      status: Number(statusLine.split(" ")[1]),
      headers,
      body: headers.get("content-type") === "application/json" ? JSON.parse(body) : body
    })
    rest = rest.slice(bodyEnd)
  }
  return answers
}

export interface SendBytesOptions {
  /** The number of responses to wait for if the server does not close the connection. */
  readonly answers?: number
  /** Called after the client has sent the bytes. */
  readonly afterwards?: (socket: Socket) => void
}

const patienceMs = 20_000

/** Sends bytes, and reads until there are enough responses or the server closes the connection. */
export const sendBytesTo = (url: string, bytes: string | Buffer, options: SendBytesOptions = {}) =>
  Effect.callback<RawExchange>((resume) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let text = ""
    const finish = (isClosed: boolean) => {
      resume(Effect.sync(() => ({ answers: parse(text), isClosed })))
      socket.destroy()
    }
    socket
      .setEncoding("latin1")
      .setTimeout(patienceMs, () => {
        resume(
          Effect.die(
            new Error(`the server sent too few answers and did not close the connection: ${text}`)
          )
        )
        socket.destroy()
      })
      .on("error", () => {})
      .on("close", () => finish(true))
      .on("data", (chunk) => {
        text += chunk
        const expected = options.answers ?? Infinity
        if (text.split("HTTP/1.1 ").length > expected && parse(text).length === expected)
          finish(false)
      })
      .write(bytes, () => options.afterwards?.(socket))
    return Effect.sync(() => socket.destroy())
  })

export const sendBytes = (bytes: string | Buffer, options: SendBytesOptions = {}) =>
  Effect.flatMap(TestApp, ({ url }) => sendBytesTo(url, bytes, options))

/**
 * Sends a request's head, runs `meanwhile`, and then sends the body. By then, access has been
 * decided, because later requests with the same credential have been answered.
 */
export const sendBodyLate = Effect.fnUntraced(function* <E, R>(
  line: string,
  { body, token }: { readonly body: string; readonly token: string },
  meanwhile: Effect.Effect<unknown, E, R>
) {
  const head = requestText(line, {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body))
  })
  const sent = yield* Deferred.make<Socket>()
  const afterwards = (socket: Socket) => Deferred.doneUnsafe(sent, Effect.succeed(socket))
  const exchange = yield* Effect.forkChild(sendBytes(head, { answers: 1, afterwards }))
  const socket = yield* Deferred.await(sent)
  yield* Effect.repeat(ask("GET", "/v1/whoami", { token }), { times: 2 })
  yield* meanwhile
  socket.write(body)
  const { answers } = yield* Fiber.join(exchange)
  return answers[0] ?? assert.fail("no answer")
})

/** Returns a request as text, including the headers that HTTP/1.1 requires. */
export const requestText = (
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = ""
) =>
  `${line} HTTP/1.1\r\nhost: localhost\r\n` +
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("") +
  `\r\n${body}`
