import {
  type IncomingMessage,
  Server,
  type ServerOptions,
  ServerResponse,
  STATUS_CODES
} from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { ApiFailure } from "@scheduling/domain/shared/Errors"
import { Clients } from "../fairness/Clients.ts"
import { rejectFurtherUpgradeListeners } from "../../core/index.ts"
import {
  errorBody,
  notServingError,
  parserError,
  silentConnectionError
} from "../answers/Errors.ts"
import { requestIdOf, nextRequestId } from "../request/RequestId.ts"
import { type RequestEvent, SerialRequests } from "../fairness/SerialRequests.ts"
import { UnsentResponses } from "../fairness/UnsentResponses.ts"
import { ConnectionsWithoutData } from "./ConnectionsWithoutData.ts"

export const serverLimits = {
  /** The maximum number of connections. An idle connection takes about 10 kB. */
  connections: 10_000,
  /**
   * The timeouts for the headers and for the whole request, and the interval at which they are
   * checked.
   */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  /** The time that a client may take to read a response: 26 s for a page of 2 MiB. */
  readers: { graceMs: 10_000, bytesPerSecond: 128 * 1024, maxBytes: 64 * 1024 * 1024 }
}

/**
 * Creates Node's server with the limits that apply before a request exists, and to requests that
 * get no response.
 */
export const makeNodeServer = (
  warn: (message: string, requestId: string) => void,
  {
    connections,
    connectionsCheckingInterval,
    headersTimeout,
    readers,
    requestTimeout
  } = serverLimits
): Server => {
  const clients = new Clients()
  const unsent = new UnsentResponses(readers)
  const turns = new SerialRequests((turn) => server.begin(turn))

  const mayConnect = (socket: Socket): boolean => {
    const free = connections - clients.connections
    if (clients.admit(socket, free)) {
      server.unused.watch(socket)
      return true
    }
    socket.destroy()
    // Idle connections are closed to make room, because they must not keep new clients out.
    if (free <= 0) server.closeIdleConnections()
    return false
  }

  const respondStalled = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (response.headersSent) return void socket.destroy()
    const id = requestIdOf(request)
    if (request.complete) warn(`no response within ${silenceMs / 1000} s`, id)
    const end = request.complete ? respondAndClose : respondUnread
    end(socket, silentConnectionError(request.complete), id)
  }

  const watch = (request: IncomingMessage, response: ServerResponse) => {
    if (server.listenerCount("request") === 1) {
      return respondUnread(request.socket, notServingError(), requestIdOf(request))
    }
    response.on("timeout", () => respondStalled(request, response))
  }

  const refuse = (socket: Duplex, code: string | undefined, id: string) =>
    turns.whenGiven(socket, (unfinished) => {
      if (!socket.writable) return void socket.destroy()
      // The response was sent before the request turned out to be malformed, so no second response
      // is sent.
      if (unfinished?.headersSent === true) return void socket.end(() => socket.destroy())
      respondUnread(socket, parserError(code), id)
    })

  /**
   * Continues without the upgrade that a request offers. A client may offer an upgrade to h2c with
   * any request, as Java's client does. The service responds with HTTP/1.1. If Node rejects the
   * upgrade, it drops the bytes that arrived with the offer and continues in the middle of the next
   * request. So the server accepts the upgrade, puts the head back without the offer, and parses it
   * again.
   */
  const readWithoutOffer = (request: IncomingMessage, socket: Duplex, rest: Buffer) =>
    turns.whenGiven(socket, () => {
      socket.unshift(Buffer.concat([headWithoutOffer(request), rest]))
      server.beginConnection(socket)
    })

  const server = new TurnTakingServer(turns, mayConnect, {
    ServerResponse: watchedResponses(unsent),
    maxHeaderSize: 16 * 1024,
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval,
    // The service keeps idle connections longer than proxies do, so that it never closes one just
    // as a request arrives.
    keepAliveTimeout: 65_000,
    // By default, Node itself responds to a request without `Host`, with a 400 that does not have
    // the JSON body of this API.
    requireHostHeader: false
  })
  // This limits how long a request may wait, for example for a frozen database or for a client that
  // has stopped reading. The timeout of the server costs a request nothing, while a timer and a
  // fiber per request would cost 3 µs.
  server.timeout = silenceMs
  server
    .on("request", watch)
    .on("checkContinue", watch)
    .on("checkExpectation", (request, response) => server.emit("request", request, response))
    .on("connect", (request, socket) => refuse(socket, undefined, requestIdOf(request)))
    .on("upgrade", readWithoutOffer)
    .on("clientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ECONNRESET") return void socket.destroy()
      refuse(socket, error.code, nextRequestId())
    })
  rejectFurtherUpgradeListeners(server)
  return server
}

/** Emits a connection only if it is admitted, and a request only when it is its turn. */
class TurnTakingServer extends Server {
  readonly unused = new ConnectionsWithoutData()
  readonly #turns: SerialRequests
  readonly #mayConnect: (socket: Socket) => boolean

  constructor(
    turns: SerialRequests,
    mayConnect: (socket: Socket) => boolean,
    options: ServerOptions
  ) {
    super(options)
    this.#turns = turns
    this.#mayConnect = mayConnect
  }

  override emit(event: string, ...args: ReadonlyArray<unknown>): boolean {
    if (event === "connection" && !this.#mayConnect(args[0] as Socket)) return true
    if (event === "request" || event === "checkContinue") {
      const [request, answer] = args as [IncomingMessage, ServerResponse<IncomingMessage>]
      if (!this.#turns.take(event, request, answer)) return true
    }
    return super.emit(event, ...args)
  }

  beginConnection(socket: Duplex): void {
    super.emit("connection", socket)
  }

  begin({ answer, event, request }: RequestEvent): void {
    super.emit(event, request, answer)
  }

  override close(closed?: (error?: Error) => void): this {
    this.unused.close()
    return super.close(closed)
  }
}

const watchedResponses = (unsent: UnsentResponses) =>
  class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override end(...written: ReadonlyArray<unknown>): this {
      super.end(...(written as []))
      // Most responses need not be watched, because the kernel has already taken them.
      if (this.socket != null && this.socket.writableLength > 0) unsent.watch(this)
      return this
    }
  }

const silenceMs = 15_000

/** Allows a waiting request to be silent for this long before the usual timeout applies. */
export const allowSilence = (request: Pick<IncomingMessage, "socket">, ms: number): void => {
  request.socket.setTimeout(silenceMs + ms)
}

const headWithoutOffer = ({ httpVersion, method, rawHeaders, url }: IncomingMessage): Buffer => {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ""
    if (name.toLowerCase() !== "upgrade") head += `${name}: ${rawHeaders[index + 1]}\r\n`
  }
  return Buffer.from(`${head}\r\n`, "latin1")
}

/** Sends the error response and closes the connection, which also aborts the request. */
const respondAndClose = (socket: Duplex, error: ApiFailure, id: string) => {
  socket.end(textOf(error, id), () => socket.destroy())
}

const unreadMs = 1_000

/**
 * Responds to a request that was not read, and closes the connection. If a connection with unread
 * bytes is closed, the kernel resets it and the client may lose the response. The rest is therefore
 * read for a moment.
 */
const respondUnread = (socket: Duplex, error: ApiFailure, id: string) => {
  socket.end(textOf(error, id))
  const timer = setTimeout(() => socket.destroy(), unreadMs)
  socket
    .removeAllListeners("data")
    .on("data", () => {})
    .on("close", () => clearTimeout(timer))
    .resume()
}

const textOf = (error: ApiFailure, id: string): string => {
  const { headers, status } = error
  const body = JSON.stringify(errorBody(error, id))
  const lines = {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": id,
    "x-content-type-options": "nosniff",
    connection: "close"
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("")}\r\n${body}`
}
