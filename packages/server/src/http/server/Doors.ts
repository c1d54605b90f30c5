import { Context, Effect } from "effect"
import { Server } from "node:http"
import { type AddressInfo, createServer, type Server as Door } from "node:net"

/**
 * Sockets that listen on one port. libuv accepts one connection per socket and round of the event
 * loop, and a busy node has 20 rounds per second. Through a single socket only that many get in.
 * The queue behind them fills up, and TCP then tries again after 1, 3 and 7 seconds.
 */
export const DoorCount = Context.Reference<number>("@scheduling/server/http/DoorCount", {
  defaultValue: () => (process.platform === "linux" ? 64 : 1)
})

export interface Address {
  readonly host: string
  readonly port: number
}

/** How each door is opened, so that there can be others beside it. */
export const sharedPort = { reusePort: process.platform === "linux" }

/**
 * The address, once it is known that nobody listens there. With several doors the system would let
 * another process of the same user listen on it too.
 */
export const freeAddress = (wanted: Address): Effect.Effect<Address, Error> =>
  Effect.callback((resume) => {
    const alone = createServer()
    alone.on("error", (cause) => resume(Effect.fail(cause)))
    alone.listen(wanted, () => {
      const { address, port } = alone.address() as AddressInfo
      alone.close(() => resume(Effect.succeed({ host: address, port })))
    })
  })

/** A connection through another door is served as if it came through the first. */
export class ServerOfManyDoors extends Server {
  readonly #others: Array<Door> = []

  /** Those beside the first, at the same address. */
  readonly openOthers = (count: number): Effect.Effect<void, Error> =>
    Effect.suspend(() => {
      const { address, port } = this.address() as AddressInfo
      const open = Effect.callback<void, Error>((resume) => {
        const fail = (cause: Error) => resume(Effect.fail(cause))
        const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
          this.emit("connection", socket)
        })
        door.once("error", fail)
        door.listen({ host: address, port, ...sharedPort }, () => {
          door.off("error", fail)
          this.#others.push(door)
          resume(Effect.void)
        })
        return Effect.sync(() => door.close())
      })
      return Effect.replicateEffect(open, count, { discard: true })
    })

  override close(closed?: (error?: Error) => void): this {
    let left = 1 + this.#others.length
    const oneClosed = (error?: Error) => {
      if (--left === 0 || error !== undefined) closed?.(error)
    }
    for (const door of this.#others.splice(0)) door.close(oneClosed)
    return super.close(oneClosed)
  }
}
