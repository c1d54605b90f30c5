import { Duplex } from "node:stream"
import { MessageChannel } from "node:worker_threads"
import type { MessagePort, Worker } from "node:worker_threads"
import type { Chunk, ToStoreThread } from "./channel.ts"
import { isClosedIndex, unreadBytesIndex, makeFlowControl } from "./channel.ts"

/** The client side of a connection to the store, which the driver uses as a socket. */
export class Connection extends Duplex {
  readonly #port: MessagePort
  readonly #flow: Int32Array
  readonly #inbox: Array<Chunk> = []
  #reading = false

  constructor(worker: Worker) {
    super({ allowHalfOpen: false })
    const { port1, port2 } = new MessageChannel()
    const flow = makeFlowControl()
    this.#port = port1
    this.#flow = new Int32Array(flow)
    port1.on("message", (chunk: Chunk) => {
      this.#inbox.push(chunk)
      this.#deliver()
      // After a cancel request, the driver does not read. A real socket would report its end even
      // then, so this reads.
      if (chunk === null) this.read(0)
    })
    const connect: ToStoreThread = { _tag: "Connect", port: port2, flow }
    worker.postMessage(connect, [port2])
  }

  /** The number of bytes that the store has sent and the driver has not read. */
  get unreadBytes(): number {
    return Atomics.load(this.#flow, unreadBytesIndex)
  }

  override _read(): void {
    this.#reading = true
    this.#deliver()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    // The bytes are copied, because the transfer detaches the buffer, which may be part of Node's
    // pool.
    const bytes = new Uint8Array(chunk)
    this.#port.postMessage(bytes, [bytes.buffer])
    done()
  }

  override _final(done: () => void): void {
    this.#port.close()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#inbox.length = 0
    Atomics.store(this.#flow, isClosedIndex, 1)
    // Changing the number first ensures that the store's thread does not miss the wake-up if it is
    // just about to wait.
    Atomics.store(this.#flow, unreadBytesIndex, 0)
    Atomics.notify(this.#flow, unreadBytesIndex)
    this.#port.close()
    done(error)
  }

  #deliver(): void {
    let taken = 0
    while (this.#reading && taken < this.#inbox.length) {
      const chunk = this.#inbox[taken++] ?? null
      this.#reading = this.push(chunk)
      if (chunk === null) {
        this.read(0)
        break
      }
      Atomics.sub(this.#flow, unreadBytesIndex, chunk.length)
      Atomics.notify(this.#flow, unreadBytesIndex)
    }
    this.#inbox.splice(0, taken)
  }
}
