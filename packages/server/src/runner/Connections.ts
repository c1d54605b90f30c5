import { Data, Effect, Exit, type Fiber } from "effect"
import type { Socket } from "node:net"
import { Client } from "undici"
import type { makeConnect } from "./Egress.ts"
import type { Exchange } from "./Exchange.ts"

const maxResponseHeaderBytes = 16 * 1024

/**
 * Of one answer as it comes over the wire. The longest that is of use has its header and the 64 KiB
 * of a body after which we hang up; the rest is room for chunk sizes and interim answers. Nothing
 * else bounds those: a server that sends them without end took the processor until the timeout.
 */
const maxAnswerBytes = 256 * 1024

/** Shorter than the 5 s after which Node, Apache and many others hang up on an idle connection. */
const idleMillis = 4_000

const maxIdleMillis = 30_000

export interface OutgoingRequest {
  readonly origin: string
  readonly path: string
  readonly method: string
  /** Names and values in turns. Asked for when it is sent, as the signature has the time in it. */
  readonly headers: () => Array<string>
  readonly body: string | null
  /** Whose call it is: they take turns where calls wait. */
  readonly workspace_id: string
}

export interface ConnectionLimits {
  /** More calls to one origin wait for one of these to end. Their timeouts begin after that. */
  readonly perOrigin: number
  /** Idle connections kept in all. */
  readonly idle: number
}

export class AnswerTooLong extends Data.TaggedError("AnswerTooLong")<{}> {}

/** One keep-alive connection: an undici client, and the socket so that connecting can be ended. */
class Connection {
  readonly client: Client
  private connecting: Socket | undefined
  /** What calls are read from and written to: with TLS another one than the one that connected. */
  private socket: Socket | undefined
  private mayReadUpTo = maxAnswerBytes

  constructor(origin: string, connect: ReturnType<typeof makeConnect>) {
    this.client = new Client(origin, {
      connect: (target, callback) => {
        this.connecting = connect(target, (...result) => {
          if (result[0] === null) this.watch(result[1])
          callback(...result)
        })
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

  send(request: OutgoingRequest, exchange: Exchange): void {
    this.mayReadUpTo = (this.socket?.bytesRead ?? 0) + maxAnswerBytes
    const { body, method, origin, path } = request
    this.client.dispatch({ origin, path, method, headers: request.headers(), body }, exchange)
  }

  close(): void {
    this.client.destroy(() => {})
    this.connecting?.destroy()
  }

  /** Before the client listens, so that it never parses what is too much. */
  private watch(socket: Socket): void {
    this.socket = socket
    socket.on("readable", () => {
      if (socket.bytesRead > this.mayReadUpTo) socket.destroy(new AnswerTooLong())
    })
  }
}

interface Origin {
  /** How many more calls may run. */
  places: number
  /** Calls that wait for a place, by workspace: the one that is next comes first. */
  readonly waiting: Map<string, Set<() => void>>
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

  /**
   * Fills the exchange, and answers whether the time was up before that. Interruption closes the
   * connection at once, whatever it is doing. The timer is a fiber beside this one: a race of two
   * fibers would cost a twentieth of a call more.
   */
  readonly run = (
    request: OutgoingRequest,
    exchange: Exchange,
    timeoutMillis: number
  ): Effect.Effect<boolean> =>
    Effect.withFiber(({ context }) =>
      Effect.callback((resume) => {
        const origin = this.enter(request.origin)
        let timer: Fiber.Fiber<void> | undefined
        let connection: Connection | undefined
        let hasLeft = false

        const send = (taken: Connection, settle: (reusable: boolean) => void) => {
          connection = taken
          exchange.begin(settle)
          taken.send(request, exchange)
        }
        const start = () => {
          timer = Effect.runForkWith(context)(Effect.sleep(timeoutMillis))
          timer.addObserver((exit) => {
            if (Exit.isFailure(exit)) return
            // Before the connection closes, which would be taken for how the call ended.
            resume(Effect.succeed(true))
            leave(false)
          })
          const kept = this.takeIdle(origin)
          if (kept === undefined) send(this.open(request.origin, origin), end)
          else send(kept, endOrSendAgain)
        }
        // A kept connection may have been hung up on while the request was on its way. As in Go's
        // client, the Idempotency-Key makes it safe to send once more on a new one, and without it a
        // task with no retries would fail for a reason that is not its receiver's.
        const endOrSendAgain = (reusable: boolean) => {
          // We hung up ourselves.
          if (hasLeft) return
          if (exchange.error === null || exchange.phase !== "waiting for the answer") {
            return end(reusable)
          }
          connection?.close()
          send(this.open(request.origin, origin), end)
        }
        const leave = (reusable: boolean) => {
          if (hasLeft) return
          hasLeft = true
          timer?.interruptUnsafe()
          if (connection === undefined) waitNoMore(origin, request.workspace_id, start)
          else {
            origin.places++
            if (reusable) this.keep(origin, connection)
            else connection.close()
          }
          this.leave(request.origin, origin)
        }
        const end = (reusable: boolean) => {
          leave(reusable)
          resume(Effect.succeed(false))
        }

        wait(origin, request.workspace_id, start)
        startCalls(origin)
        return Effect.sync(() => leave(false))
      })
    )

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
        waiting: new Map(),
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

const wait = (origin: Origin, workspace: string, start: () => void): void => {
  const queue = origin.waiting.get(workspace)
  if (queue === undefined) origin.waiting.set(workspace, new Set([start]))
  else queue.add(start)
}

const waitNoMore = (origin: Origin, workspace: string, start: () => void): void => {
  const queue = origin.waiting.get(workspace)
  if (queue?.delete(start) === true && queue.size === 0) origin.waiting.delete(workspace)
}

/** In a loop: a call that ends where it starts makes room for the next one, and so for thousands. */
const startCalls = (origin: Origin): void => {
  if (origin.isStartingCalls) return
  origin.isStartingCalls = true
  try {
    while (origin.places > 0) {
      const [first] = origin.waiting
      if (first === undefined) return
      const [workspace, queue] = first
      // To the end, as its turn is over.
      origin.waiting.delete(workspace)
      const [start] = queue
      if (start === undefined) continue
      queue.delete(start)
      if (queue.size > 0) origin.waiting.set(workspace, queue)
      origin.places--
      start()
    }
  } finally {
    origin.isStartingCalls = false
  }
}
