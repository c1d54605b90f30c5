import { Effect } from "effect"
import type { Duplex } from "node:stream"

/** How much of a node's connections to the database is in use. */
export class PoolUse {
  /** The most connections that the pool of requests opens. */
  readonly size: number
  /** Open ones, also of the pools and sessions that the engine has. */
  connections = 0
  /** Transactions of requests under way. Each has a connection for itself. */
  transactions = 0
  /** Transactions that wait for a connection. */
  waiting = 0

  constructor(size: number) {
    this.size = size
  }

  opened<Socket extends Duplex>(socket: Socket): Socket {
    this.connections++
    socket.once("close", () => this.connections--)
    return socket
  }

  /** Counts a transaction that begins when it gets what it waits for. */
  transaction<A, E, R>(
    whenFree: (work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
    work: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let hasBegun = false
      this.waiting++
      const begun = Effect.suspend(() => {
        hasBegun = true
        this.waiting--
        this.transactions++
        return work
      })
      return Effect.ensuring(
        whenFree(begun),
        Effect.sync(() => {
          if (hasBegun) this.transactions--
          else this.waiting--
        })
      )
    })
  }
}
