import type { Socket } from "node:net"
import { FairLine } from "./FairLine.ts"
import { networkOf } from "./networkOf.ts"

/** How many new connections begin in a round of the event loop. */
const perRound = 4

/**
 * Lets few new connections in at a time. Whoever opens 2,500 of them per second, each for one
 * request, would otherwise keep the node from everything else. Rounds of an idle node are so short
 * that nobody waits, and on a busy node addresses take turns.
 */
export class Arrivals {
  #begun = 0
  #isCounting = false
  readonly #waiting = new FairLine<string, Waiter>()
  readonly #begin: (socket: Socket) => void

  /** `begin` is called for each connection that had to wait, when its turn has come. */
  constructor(begin: (socket: Socket) => void) {
    this.#begin = begin
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether the connection can begin now. */
  take(socket: Socket): boolean {
    if (!this.#isCounting) {
      this.#isCounting = true
      setImmediate(this.#nextRound)
    }
    if (this.#begun < perRound && this.#waiting.size === 0) {
      this.#begun++
      return true
    }
    this.#wait(socket)
    return false
  }

  #wait(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? "")
    const leave = () => this.#waiting.remove(network, begin)
    const begin = () => {
      socket.off("error", ignore).off("close", leave)
      if (socket.destroyed) return
      this.#begun++
      this.#begin(socket)
    }
    socket.on("error", ignore).on("close", leave)
    this.#waiting.add(network, begin)
  }

  readonly #nextRound = () => {
    this.#begun = 0
    while (this.#begun < perRound) {
      const begin = this.#waiting.next()
      if (begin === undefined) break
      begin()
    }
    this.#isCounting = this.#begun > 0
    if (this.#isCounting) setImmediate(this.#nextRound)
  }
}

type Waiter = () => void

/** The connection closes, and leaves the line. */
const ignore = () => {}
