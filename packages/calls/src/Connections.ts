import { Effect, Exit, type Fiber } from "effect"
import { Connection, type OutgoingRequest } from "./Connection.ts"
import type { Connect } from "./Egress.ts"
import type { Exchange } from "./Exchange.ts"

export interface ConnectionLimits {
  /** Further calls to the origin wait until one of these ends. Their timeouts begin after that. */
  readonly perOrigin: number
  /** Idle connections kept over all origins. */
  readonly idle: number
}

interface Origin {
  /** How many more calls may run. */
  places: number
  /** Calls that wait for a place, by workspace. The workspace whose turn is next comes first. */
  readonly waiting: Map<string, Set<() => void>>
  /** The one used last is taken first, so that the others can reach their idle timeout. */
  readonly idle: Array<Connection>
  /** Calls that wait or run. */
  calls: number
  isStartingCalls: boolean
}

/**
 * Keep-alive connections by origin. A call that waits for one can be taken back at any time.
 */
export class Connections {
  private readonly origins = new Map<string, Origin>()
  private idle = 0
  private readonly connect: Connect
  private readonly limits: ConnectionLimits

  constructor(connect: Connect, limits: ConnectionLimits) {
    this.connect = connect
    this.limits = limits
  }

  /**
   * Fills the exchange and returns whether the time ran out first. Interruption closes the
   * connection at once, whatever it is doing. The timer is a fiber of its own because racing two
   * fibers made each call about a twentieth more expensive.
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
            // This comes before the connection closes: the close would be taken for the call's
            // outcome.
            resume(Effect.succeed(true))
            leave(false)
          })
          const kept = this.takeIdle(origin)
          if (kept === undefined) send(this.open(request.origin, origin), end)
          else send(kept, endOrSendAgain)
        }
        // The server may have closed a kept connection while the request was on its way. Like Go's
        // client, we then send the request once more on a new connection; the Idempotency-Key makes
        // that safe. Otherwise a task without retries would fail for a reason that is not its
        // receiver's fault.
        const endOrSendAgain = (reusable: boolean) => {
          // We closed the connection ourselves.
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
    connection.onIdleEnd = () => {
      const index = origin.idle.indexOf(connection)
      if (index === -1) return
      origin.idle.splice(index, 1)
      this.idle--
      this.forgetUnused(name, origin)
    }
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

/**
 * A loop instead of recursion: when a call ends at once, its place goes to the next, thousands
 * deep.
 */
const startCalls = (origin: Origin): void => {
  if (origin.isStartingCalls) return
  origin.isStartingCalls = true
  try {
    while (origin.places > 0) {
      const [first] = origin.waiting
      if (first === undefined) return
      const [workspace, queue] = first
      // The workspace has had its turn and goes to the end.
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
