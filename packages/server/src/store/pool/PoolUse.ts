import { Effect, type Scope, Semaphore } from "effect"
import type { Duplex } from "node:stream"

/** How much of a node's connections to the database is in use. */
export class PoolUse {
  /** Open connections, also those of the engine. */
  connections = 0
  /** Transactions of requests under way. Each has a connection for itself. */
  transactions = 0
  /** Transactions that wait for a connection. */
  waiting = 0
  /** The most connections that requests may open. */
  readonly size: number
  readonly #turns: Semaphore.Semaphore

  constructor(size: number, transactionsAtOnce: number) {
    this.size = size
    this.#turns = Semaphore.makeUnsafe(transactionsAtOnce)
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
