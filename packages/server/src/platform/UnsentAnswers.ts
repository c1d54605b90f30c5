import type { ServerResponse } from "node:http"
import { type Client, clientAt } from "./Clients.ts"

type Answer = ServerResponse

/** How long readers may take, and how much may wait for them. */
export interface ReadersPatience {
  readonly graceMs: number
  readonly bytesPerSecond: number
  readonly maxBytes: number
}

interface Unsent {
  readonly answer: Answer
  readonly client: Client
  readonly bytes: number
  readonly deadline: NodeJS.Timeout
}

/**
 * The answers that their readers have not taken: the kernel holds some hundred kilobytes of each
 * connection, the rest is in our memory. A reader has its time for each, and where all together are
 * too much, those go that whoever has most of them has kept waiting for the longest.
 */
export class UnsentAnswers {
  bytes = 0
  /** The oldest first. */
  readonly #unsent = new Set<Unsent>()
  readonly #patience: ReadersPatience

  constructor(patience: ReadersPatience) {
    this.#patience = patience
  }

  get free(): number {
    return this.#patience.maxBytes - this.bytes
  }

  /** Once all of an answer was written. */
  watch(answer: Answer): void {
    const { socket } = answer
    const client = socket === null ? undefined : clientAt(socket)
    if (socket === null || client === undefined) return
    const bytes = socket.writableLength
    const { bytesPerSecond, graceMs } = this.#patience
    const time = graceMs + (bytes / bytesPerSecond) * 1_000
    const deadline = setTimeout(() => socket.destroy(), time)
    const unsent = { answer, client: client.use(), bytes, deadline }
    this.#unsent.add(unsent)
    this.bytes += bytes
    client.hold("unsentBytes", bytes)
    answer.once("close", () => this.#forget(unsent))
    while (this.free < 0) this.#giveUpOne()
  }

  #forget(unsent: Unsent): void {
    if (!this.#unsent.delete(unsent)) return
    clearTimeout(unsent.deadline)
    this.bytes -= unsent.bytes
    unsent.client.hold("unsentBytes", -unsent.bytes)
    unsent.client.release()
  }

  #giveUpOne(): void {
    let slowest: Unsent | undefined
    for (const unsent of this.#unsent) {
      if (slowest === undefined || holdsMore(unsent.client, slowest.client)) slowest = unsent
    }
    if (slowest === undefined) return
    slowest.answer.socket?.destroy()
    this.#forget(slowest)
  }
}

const holdsMore = (one: Client, other: Client): boolean =>
  one.address === other.address
    ? one.unsentBytes > other.unsentBytes
    : one.address.unsentBytes > other.address.unsentBytes
