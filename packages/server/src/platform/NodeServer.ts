import {
  type IncomingMessage,
  Server,
  type ServerOptions,
  ServerResponse,
  STATUS_CODES
} from "node:http"
import type { Duplex } from "node:stream"
import { Clients } from "./Clients.ts"
import { notServing, parserError, type RawAnswer, stalled } from "./Errors.ts"
import { messageId, nextRequestId } from "./RequestId.ts"
import { type Turn, Turns } from "./Turns.ts"
import { UnsentAnswers } from "./UnsentAnswers.ts"

/** How long a client may take for the headers and for all of a request; looked at only so often. */
export const patience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  /** For an answer to be taken by its reader: a page of 2 MiB has 26 s. */
  readers: { graceMs: 10_000, bytesPerSecond: 128 * 1024, maxBytes: 64 * 1024 * 1024 }
}

/** Node's server, with the limits that hold before there is a request and when it gets no answer. */
export const makeNodeServer = (
  warn: (message: string, requestId: string) => void,
  { connectionsCheckingInterval, headersTimeout, readers, requestTimeout } = patience
): Server => {
  const clients = new Clients()
  const unsent = new UnsentAnswers(readers)
  const turns = new Turns((turn) => server.begin(turn))

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

  const refuse = (socket: Duplex, code: string | undefined, id: string) =>
    turns.whenGiven(socket, (unfinished) => {
      if (!socket.writable) return void socket.destroy()
      // It had its answer before it turned out to be broken: there is no second one.
      if (unfinished?.headersSent === true) return void socket.end(() => socket.destroy())
      answerRaw(socket, parserError(code), id)
    })

  /**
   * A client may offer h2c with any request (Java's does): it is answered in HTTP/1.1. Node, told not
   * to upgrade, forgets what came in one piece with the offer, and would read on in the middle of it.
   */
  const readWithoutOffer = (request: IncomingMessage, socket: Duplex, rest: Buffer) =>
    turns.whenGiven(socket, () => {
      socket.unshift(Buffer.concat([headWithoutOffer(request), rest]))
      server.emit("connection", socket)
    })

  const server = new ServerOfTurns(turns, {
    ServerResponse: answersWatchedBy(unsent),
    maxHeaderSize: 16 * 1024,
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval,
    // Longer than a proxy keeps idle connections, so that it is never we who close under its request.
    keepAliveTimeout: 65_000,
    // Without a `Host` Node answers 400 by itself, and not in our shape.
    requireHostHeader: false
  })
  // Bounds what a request waits for, be it a frozen database or a client that stops reading. It costs
  // a request nothing, where a timer and a fiber of its own cost 3 µs.
  server.timeout = silenceMs
  server.maxConnections = maxConnections
  return (
    server
      .on("connection", (socket) => {
        if (!clients.admit(socket, server.maxConnections - clients.connections)) socket.destroy()
      })
      .on("request", watch)
      .on("checkContinue", watch)
      .on("checkExpectation", (request, response) => server.emit("request", request, response))
      .on("connect", (request, socket) => refuse(socket, undefined, messageId(request)))
      .on("upgrade", readWithoutOffer)
      .on("newListener", (event, listener) => {
        // The framework's own, which would answer the offer too, as one of a WebSocket.
        if (event === "upgrade") process.nextTick(() => server.off("upgrade", listener))
      })
      // Room for the next: an idle connection is no reason to turn anybody away.
      .on("drop", () => server.closeIdleConnections())
      .on("clientError", (error: NodeJS.ErrnoException, socket) => {
        if (error.code === "ECONNRESET") return void socket.destroy()
        refuse(socket, error.code, nextRequestId())
      })
  )
}

// ---------------------------------------------------------------------------

/** Tells of a request when it has its turn. */
class ServerOfTurns extends Server {
  readonly #turns: Turns

  constructor(turns: Turns, options: ServerOptions) {
    super(options)
    this.#turns = turns
  }

  override emit(event: string, ...told: ReadonlyArray<unknown>): boolean {
    if (event === "request" || event === "checkContinue") {
      const [request, answer] = told as [IncomingMessage, ServerResponse<IncomingMessage>]
      if (!this.#turns.take(event, request, answer)) return true
    }
    return super.emit(event, ...told)
  }

  begin({ answer, event, request }: Turn): void {
    super.emit(event, request, answer)
  }
}

const answersWatchedBy = (unsent: UnsentAnswers) =>
  class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override end(...written: ReadonlyArray<unknown>): this {
      super.end(...(written as []))
      // Nothing is left of most answers: the kernel has taken them.
      if (this.socket != null && this.socket.writableLength > 0) unsent.watch(this)
      return this
    }
  }

const silenceMs = 15_000

/** A request that waits has nothing to say for so long, and then as long as any other. */
export const expectSilence = (request: Pick<IncomingMessage, "socket">, ms: number): void => {
  request.socket.setTimeout(silenceMs + ms)
}

/** Each takes some 10 kB while it is idle. */
const maxConnections = 10_000

const headWithoutOffer = ({ httpVersion, method, rawHeaders, url }: IncomingMessage): Buffer => {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ""
    if (name.toLowerCase() !== "upgrade") head += `${name}: ${rawHeaders[index + 1]}\r\n`
  }
  return Buffer.from(`${head}\r\n`, "latin1")
}

/** Ends the connection, and with it whatever still works on the request. */
const answerRaw = (socket: Duplex, { body, headers, status }: RawAnswer, id: string) => {
  const lines = {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": id,
    "x-content-type-options": "nosniff",
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
