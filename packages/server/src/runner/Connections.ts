import { Effect } from "effect"
import type { Socket } from "node:net"
import { Client, type Dispatcher } from "undici"
import type { makeConnect } from "./Egress.ts"

/** What of an answer is kept and shown. */
const keptBytes = 10_000

/**
 * Up to here a longer body is read and dropped so that its connection can serve the next call;
 * past it, reading costs more than a new connection and the socket is destroyed.
 */
const discardedBytes = 64 * 1024

const maxResponseHeaderBytes = 16 * 1024

/** Shorter than the 5 s after which Node, Apache and many others hang up on an idle connection. */
const idleMillis = 4_000

const maxIdleMillis = 30_000

export interface OutgoingRequest {
  readonly origin: string
  readonly path: string
  readonly method: string
  /** Names and values in turns. */
  readonly headers: Array<string>
  readonly body: string | null
}

export interface ConnectionLimits {
  /** More calls to one origin wait, on their own timeout, for one of these to end. */
  readonly perOrigin: number
  /** Idle connections kept in all. */
  readonly idle: number
}

/** What came back from one request; it stays readable when the request is cut off half-way. */
export class Exchange implements Dispatcher.DispatchHandler {
  phase:
    | "waiting for a connection"
    | "connecting"
    | "waiting for the answer"
    | "reading the answer" = "waiting for a connection"
  statusCode: number | null = null
  retryAfter: string | null = null
  error: Error | null = null
  /** Everything that will be kept has arrived; what may go wrong after that changes nothing. */
  complete = false
  private receivedBytes = 0
  private readonly kept: Array<Buffer> = []
  private settle: (reusable: boolean) => void = () => {}

  begin(settle: (reusable: boolean) => void): void {
    this.phase = "connecting"
    this.error = null
    this.settle = settle
  }

  /** The kept body as text PostgreSQL can hold, without a character that the cut went through. */
  get body(): string | null {
    if (this.statusCode === null) return null
    const isCut = this.receivedBytes > keptBytes
    const bytes = Buffer.concat(this.kept)
    return new TextDecoder().decode(bytes, { stream: isCut }).replaceAll("\u0000", "")
  }

  onRequestStart(): void {
    this.phase = "waiting for the answer"
  }

  onResponseStarted(): void {
    this.phase = "reading the answer"
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  ): void {
    if (statusCode < 200) return
    this.statusCode = statusCode
    const retryAfter = headers["retry-after"]
    this.retryAfter = (typeof retryAfter === "object" ? retryAfter[0] : retryAfter) ?? null
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = keptBytes - this.receivedBytes
    this.receivedBytes += chunk.length
    // A copy: a slice would hold on to the whole 64 KiB read it is part of.
    if (room > 0) this.kept.push(Buffer.from(chunk.subarray(0, room)))
    this.complete = this.receivedBytes >= keptBytes
    if (this.receivedBytes > discardedBytes) this.settle(false)
  }

  onResponseEnd(): void {
    this.complete = true
    this.settle(true)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.error = error
    this.settle(false)
  }
}

/** One keep-alive connection: an undici client, and the socket so that connecting can be ended. */
class Connection {
  readonly client: Client
  private socket: Socket | undefined

  constructor(origin: string, connect: ReturnType<typeof makeConnect>) {
    this.client = new Client(origin, {
      connect: (target, callback) => {
        this.socket = connect(target, callback)
      },
      // HTTP/2 shares one connection between calls: one reset, or one stalled window, fails many.
      allowH2: false,
      pipelining: 1,
      // The whole call has one deadline, kept by the fiber.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMillis,
      keepAliveMaxTimeout: maxIdleMillis,
      maxHeaderSize: maxResponseHeaderBytes
    })
  }

  close(): void {
    this.client.destroy(() => {})
    this.socket?.destroy()
  }
}

interface Origin {
  /** How many more calls may run. */
  places: number
  /** Calls that wait for a place, the first to come first. */
  readonly waiting: Set<() => void>
  /** The one used last is used next, so that the others can run into their idle timeout. */
  readonly idle: Array<Connection>
  /** Calls that wait or run. */
  calls: number
  isStartingCalls: boolean
}

/**
 * Keep-alive connections by origin. undici's own Agent is not used because a request in its queue
 * cannot be taken back: calls that were interrupted while a host did not answer would stay there,
 * bodies and connecting sockets included, and later take a working connection down with them.
 */
export class Connections {
  private readonly origins = new Map<string, Origin>()
  private idle = 0
  private readonly connect: ReturnType<typeof makeConnect>
  private readonly limits: ConnectionLimits

  constructor(connect: ReturnType<typeof makeConnect>, limits: ConnectionLimits) {
    this.connect = connect
    this.limits = limits
  }

  /** Fills the exchange. Interruption closes the connection at once, whatever it is doing. */
  readonly run = (request: OutgoingRequest, exchange: Exchange): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const origin = this.enter(request.origin)
      let connection: Connection | undefined
      let hasLeft = false

      const send = (taken: Connection, settle: (reusable: boolean) => void) => {
        connection = taken
        exchange.begin(settle)
        taken.client.dispatch(request, exchange)
      }
      const start = () => {
        const kept = this.takeIdle(origin)
        if (kept === undefined) send(this.open(request.origin, origin), end)
        else send(kept, endOrSendAgain)
      }
      // A kept connection may have been hung up on while the request was on its way. As in Go's
      // client, the Idempotency-Key makes it safe to send once more on a new one, and without it a
      // task with no retries would fail for a reason that is not its receiver's.
      const endOrSendAgain = (reusable: boolean) => {
        if (exchange.error === null || exchange.phase !== "waiting for the answer") {
          return end(reusable)
        }
        connection?.close()
        send(this.open(request.origin, origin), end)
      }
      const leave = (reusable: boolean) => {
        if (hasLeft) return
        hasLeft = true
        if (connection === undefined) origin.waiting.delete(start)
        else {
          origin.places++
          if (reusable) this.keep(origin, connection)
          else connection.close()
        }
        this.leave(request.origin, origin)
      }
      const end = (reusable: boolean) => {
        leave(reusable)
        resume(Effect.void)
      }

      origin.waiting.add(start)
      startCalls(origin)
      return Effect.sync(() => leave(false))
    })

  readonly closeIdle = Effect.sync(() => {
    for (const origin of this.origins.values()) {
      for (const connection of origin.idle.splice(0)) connection.close()
    }
    this.idle = 0
  })

  private enter(name: string): Origin {
    let origin = this.origins.get(name)
    if (origin === undefined) {
      origin = {
        places: this.limits.perOrigin,
        waiting: new Set(),
        idle: [],
        calls: 0,
        isStartingCalls: false
      }
      this.origins.set(name, origin)
    }
    origin.calls++
    return origin
  }

  private leave(name: string, origin: Origin): void {
    origin.calls--
    startCalls(origin)
    this.forgetUnused(name, origin)
  }

  private forgetUnused(name: string, origin: Origin): void {
    if (origin.calls === 0 && origin.idle.length === 0) this.origins.delete(name)
  }

  private open(name: string, origin: Origin): Connection {
    const connection = new Connection(name, this.connect)
    connection.client.on("disconnect", () => {
      const index = origin.idle.indexOf(connection)
      if (index === -1) return
      origin.idle.splice(index, 1)
      this.idle--
      connection.close()
      this.forgetUnused(name, origin)
    })
    return connection
  }

  private takeIdle(origin: Origin): Connection | undefined {
    const connection = origin.idle.pop()
    if (connection !== undefined) this.idle--
    return connection
  }

  private keep(origin: Origin, connection: Connection): void {
    if (this.idle >= this.limits.idle) {
      connection.close()
      return
    }
    origin.idle.push(connection)
    this.idle++
  }
}

/** In a loop: a call that ends where it starts makes room for the next one, and so for thousands. */
const startCalls = (origin: Origin): void => {
  if (origin.isStartingCalls) return
  origin.isStartingCalls = true
  try {
    for (const start of origin.waiting) {
      if (origin.places === 0) break
      origin.places--
      origin.waiting.delete(start)
      start()
    }
  } finally {
    origin.isStartingCalls = false
  }
}
