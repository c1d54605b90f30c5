import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES
} from "node:http"
import type { Duplex } from "node:stream"
import { notServing, parserError, type RawAnswer, stalled } from "./Errors.ts"
import { messageId, nextRequestId } from "./RequestId.ts"

/** Node's server, with the limits that hold before there is a request and when it gets no answer. */
export const makeNodeServer = (warn: (message: string, requestId: string) => void): Server => {
  const answerStalled = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (response.headersSent) return void socket.destroy()
    const id = messageId(request)
    if (request.complete) warn(`no answer within ${silenceMs / 1000} s`, id)
    answerRaw(socket, stalled(request.complete), id)
  }

  const watch = (request: IncomingMessage, response: ServerResponse) => {
    if (server.listenerCount("request") === 1) {
      return answerRaw(request.socket, notServing(), messageId(request))
    }
    response.on("timeout", () => answerStalled(request, response))
  }

  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    // Node looks for slow requests only so often: 30 s would make 40 of the 10 above.
    connectionsCheckingInterval: 5_000,
    // Longer than a proxy keeps idle connections, so that it is never we who close under its request.
    keepAliveTimeout: 65_000,
    // Without a `Host` Node answers 400 by itself, and not in our shape.
    requireHostHeader: false,
    // A client may offer h2c with any request (Java's does): it is answered in HTTP/1.1.
    shouldUpgradeCallback: () => false
  })
  // Bounds what a request waits for, be it a frozen database or a client that stops reading. It costs
  // a request nothing, where a timer and a fiber of its own cost 3 µs.
  server.timeout = silenceMs
  return server
    .on("request", watch)
    .on("checkContinue", watch)
    .on("checkExpectation", (request, response) => server.emit("request", request, response))
    .on("connect", (request, socket) =>
      answerRaw(socket, parserError(undefined), messageId(request))
    )
    .on("clientError", answerUnparsable)
}

// ---------------------------------------------------------------------------

const silenceMs = 15_000

const answerUnparsable = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  answerRaw(socket, parserError(error.code), nextRequestId())
}

/** Ends the connection, and with it whatever still works on the request. */
const answerRaw = (socket: Duplex, { body, headers, status }: RawAnswer, id: string) => {
  const lines = {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": id,
    connection: "close"
  }
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      Object.entries(lines)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("") +
      `\r\n${body}`,
    () => socket.destroy()
  )
}
