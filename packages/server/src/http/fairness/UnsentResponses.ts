import type { ServerResponse } from "node:http"
import { type Client, clientAt } from "./Clients.ts"

type Answer = ServerResponse

/**
 * The time that a client may take to read a response, and the bytes of responses that may wait for
 * slow clients.
 */
export interface SlowReaderLimits {
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
 * The responses that clients have not fully read. The kernel holds some hundred kilobytes per
 * connection, and the rest is in the memory of the process. Each response has a deadline. If all
 * responses together exceed the limit, the oldest response of the client that holds the most is
 * aborted.
 */
export class UnsentResponses {
  bytes = 0
  /** The responses that a client has not fully read, oldest first. */
  readonly #unsent = new Set<Unsent>()
  readonly #patience: SlowReaderLimits

  constructor(patience: SlowReaderLimits) {
    this.#patience = patience
  }

  get free(): number {
    return this.#patience.maxBytes - this.bytes
  }

  /**
   * Starts the deadline of a response. Must be called after the response was written completely.
   */
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
