import { Effect, type Scope, Semaphore } from "effect"
import type { Duplex } from "node:stream"

/** How much of a node's connections to the database is in use. */
export class PoolUse {
  /** Open ones, also of the pools and sessions that the engine has. */
  connections = 0
  /** Transactions of requests under way. Each has a connection for itself. */
  transactions = 0
  /** Transactions that wait for a connection. */
  waiting = 0
  #size: number
  readonly #turns: Semaphore.Semaphore

  constructor(size: number) {
    this.#size = size
    this.#turns = Semaphore.makeUnsafe(this.turnsIn(size))
  }

  /** The most connections that requests may open now. */
  get size(): number {
    return this.#size
  }

  resize(size: number): Effect.Effect<void> {
    this.#size = size
    return this.#turns.resize(this.turnsIn(size))
  }

  /** One connection is left to single statements. */
  turnsIn(size: number): number {
    return Math.max(1, size - 1)
  }

  opened<Socket extends Duplex>(socket: Socket): Socket {
    this.connections++
    socket.once("close", () => this.connections--)
    return socket
  }

  /** Waits until a transaction may have a connection. Its turn ends with the scope. */
  turn(
    interruptible: <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  ): Effect.Effect<void, never, Scope.Scope> {
    const waited = Effect.suspend(() => {
      this.waiting++
      return Effect.ensuring(
        interruptible(this.#turns.take(1)),
        Effect.sync(() => {
          this.waiting--
        })
      )
    })
    const begun = Effect.map(waited, () => {
      this.transactions++
    })
    const ended = Effect.suspend(() => {
      this.transactions--
      return this.#turns.release(1)
    })
    return Effect.asVoid(Effect.acquireRelease(begun, () => ended))
  }
}
