import { Effect, type Scope, Semaphore } from "effect"
import type { Duplex } from "node:stream"

/** Counts a node's connections to the database, and lets transactions wait for a connection. */
export class PoolUse {
  /** The number of open connections, including those of the engine. */
  connections = 0
  /** The number of open transactions of requests. Each transaction has a separate connection. */
  transactions = 0
  waiting = 0
  readonly size: number
  readonly #permits: Semaphore.Semaphore

  constructor(size: number, maxTransactions: number) {
    this.size = size
    this.#permits = Semaphore.makeUnsafe(maxTransactions)
  }

  countConnection<Socket extends Duplex>(socket: Socket): Socket {
    this.connections++
    socket.once("close", () => this.connections--)
    return socket
  }

  /** Waits until a transaction can begin. The permit is released when the scope closes. */
  permit(
    interruptible: <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  ): Effect.Effect<void, never, Scope.Scope> {
    const waited = Effect.suspend(() => {
      this.waiting++
      return Effect.ensuring(
        interruptible(this.#permits.take(1)),
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
      return this.#permits.release(1)
    })
    return Effect.asVoid(Effect.acquireRelease(begun, () => ended))
  }
}
