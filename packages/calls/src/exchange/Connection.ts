import { Data } from "effect"
import type { Socket } from "node:net"
import { ResponseTruncated, ResponseParser, type ResponseListener } from "./ResponseParser.ts"
import type { Connect, ConnectTimes, Target } from "../egress/Egress.ts"
import { type OutgoingRequest, RequestNotSent } from "../OutgoingRequest.ts"

/** Receives the events of an exchange. */
export interface ExchangeListener extends ResponseListener {
  /** The number of bytes of the body to keep. */
  readonly keptBytes: number
  /**
   * Called when a connection is opened for the exchange. The times are filled in as the phases end.
   */
  readonly onOpening: (times: ConnectTimes) => void
  readonly onSent: () => void
  readonly onFirstByte: () => void
  /** Called when the exchange has finished. A reusable connection can serve another exchange. */
  readonly onEnd: (reusable: boolean) => void
  readonly onError: (error: Error) => void
}

/**
 * The maximum size of a response on the wire. The longest useful response consists of the head and
 * 64 KiB of body, after which the service closes the connection. The rest is a margin for chunk
 * sizes and empty lines, which no other limit covers: a server could send them endlessly and use
 * the CPU until the timeout.
 */
const maxResponseBytes = 256 * 1024

/**
 * How long an idle connection is kept. Node, Apache and many other servers close an idle connection
 * after 5 s, so this time is shorter.
 */
const idleMillis = 4_000

const maxIdleMillis = 30_000

/**
 * The safety margin before the server's own timeout, because the server may close the connection
 * while a request is in flight.
 */
const marginMillis = 1_000

export class ResponseTooLong extends Data.TaggedError("ResponseTooLong")<{}> {}

/** A keep-alive connection with one exchange at a time. */
export class Connection {
  /** Called once when the connection closes while it is idle. */
  onIdleEnd: () => void = () => {}
  private socket: Socket | undefined
  private isOpen = false
  private request: OutgoingRequest | undefined
  private exchange: ExchangeListener | undefined
  private parser: ResponseParser | undefined
  private answerBytes = 0
  private isClosed = false
  private readonly target: Target
  private readonly connect: Connect

  constructor(origin: string, connect: Connect) {
    this.target = targetOf(origin)
    this.connect = connect
  }

  /** Connects before the first request. */
  open(): void {
    const onOpen: Parameters<Connect>[1] = (error, socket) => {
      if (error !== null) return this.fail(error)
      this.listen(socket)
      if (this.isClosed) socket.destroy()
      else if (this.exchange === undefined) socket.setTimeout(idleMillis)
      else this.write(socket)
    }
    const times: ConnectTimes = { dns_ms: null, connect_ms: null, tls_ms: null }
    this.exchange?.onOpening(times)
    this.socket = this.connect(this.target, onOpen, (bytes) => this.read(bytes), times)
  }

  send(request: OutgoingRequest, exchange: ExchangeListener): void {
    this.request = request
    this.exchange = exchange
    this.parser = new ResponseParser(request.method, exchange)
    this.answerBytes = 0
    if (this.socket === undefined) return this.open()
    // If the connection is still opening, the request is sent once it is open.
    if (!this.isOpen) return
    this.socket.setTimeout(0)
    this.write(this.socket)
  }

  close(): void {
    this.isClosed = true
    this.exchange = undefined
    this.socket?.destroy()
  }

  private write(socket: Socket): void {
    const { exchange, request } = this
    if (exchange === undefined || request === undefined) return
    this.request = undefined
    if (request.maySend?.() === false) return this.fail(new RequestNotSent())
    exchange.onSent()
    const { body, bodyBytes } = request
    // A single string needs only one write. A non-ASCII body needs a different encoding than the
    // head.
    if (body.length === bodyBytes) {
      socket.write(request.head() + body, "latin1")
      return
    }
    socket.cork()
    socket.write(request.head(), "latin1")
    socket.write(body)
    socket.uncork()
  }

  private listen(socket: Socket): void {
    this.socket = socket
    this.isOpen = true
    let failure: Error | undefined
    socket
      .on("end", () => this.finish())
      .on("error", (error) => (failure = error))
      .on("close", () => this.fail(failure ?? new ResponseTruncated()))
      .on("timeout", () => socket.destroy())
  }

  private read(bytes: Buffer): void {
    const { exchange, parser } = this
    if (exchange === undefined || parser === undefined) return this.close()
    exchange.onFirstByte()
    this.answerBytes += bytes.length
    const most = Math.max(maxResponseBytes, 2 * exchange.keptBytes)
    if (this.answerBytes > most) return this.fail(new ResponseTooLong())
    this.parse(exchange, parser, () => parser.push(bytes))
  }

  private finish(): void {
    const { exchange, parser } = this
    if (exchange === undefined || parser === undefined) return this.close()
    parser.isReusable = false
    this.parse(exchange, parser, () => parser.finish())
  }

  private parse(exchange: ExchangeListener, parser: ResponseParser, step: () => void): void {
    try {
      step()
    } catch (error) {
      return this.fail(error instanceof Error ? error : new ResponseTruncated())
    }
    if (!parser.isFinished || this.exchange !== exchange) return
    // An idle connection must not keep the last call and its secrets in memory.
    this.exchange = undefined
    this.parser = undefined
    const idle = idleMillisAfter(parser)
    if (idle > 0) this.socket?.setTimeout(idle)
    exchange.onEnd(idle > 0)
  }

  private fail(error: Error): void {
    const { exchange } = this
    if (exchange === undefined) return this.onIdleEnd()
    this.close()
    exchange.onError(error)
  }
}

const idleMillisAfter = ({ isReusable, keepAliveSeconds }: ResponseParser): number => {
  if (!isReusable) return 0
  if (keepAliveSeconds === null) return idleMillis
  return Math.min(keepAliveSeconds * 1_000 - marginMillis, maxIdleMillis)
}

const targetOf = (origin: string): Target => {
  const { host, hostname, port, protocol } = new URL(origin)
  const isSecure = protocol === "https:"
  return {
    host,
    hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? (isSecure ? 443 : 80) : Number(port),
    isSecure
  }
}
