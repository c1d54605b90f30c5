import type { PGlite } from "@electric-sql/pglite"
import type { MessagePort } from "node:worker_threads"
import { receiveMessageOnPort } from "node:worker_threads"
import type { Chunk } from "./channel.ts"
import { isClosedIndex, unreadBytesIndex, maxUnreadResultBytes } from "./channel.ts"
import type { DurableFs } from "./DurableFs.ts"
import type { Input } from "./protocol.ts"
import {
  concatChunks,
  findError,
  InputReader,
  ProtocolViolation,
  queryMessage,
  quoteLiteral,
  startupSettings,
  syncMessage
} from "./protocol.ts"

const scratchBytes = 64 * 1024
const maxChunksPerFlush = 128
/** PostgreSQL's exit status for an error that returns to its main loop. The backend continues. */
const jumpToMainLoop = 100

/**
 * SQL that finds the table to vacuum next. A single-user backend has no autovacuum, without which
 * the tables of the queue would only grow and the planner would have no statistics. The thresholds
 * are those of autovacuum. The last threshold keeps the catalogs from running out of transaction
 * ids.
 */
const nextVacuum = `
  SELECT format('VACUUM (ANALYZE) %I.%I', s.schemaname, s.relname) AS command
  FROM pg_stat_all_tables s
  JOIN pg_class c ON c.oid = s.relid
  WHERE c.relkind IN ('r', 'm')
    AND (s.n_dead_tup > 50 + 0.2 * c.reltuples
      OR s.n_mod_since_analyze > 50 + 0.1 * c.reltuples
      OR age(c.relfrozenxid) > 150000000)
  ORDER BY s.n_dead_tup DESC
  LIMIT 1`

export interface SessionOptions {
  readonly pg: PGlite
  /** Undefined for an in-memory store, which needs no fsync. */
  readonly disk: DurableFs | undefined
  readonly checkpointAfterBytes: number
  /** Ends the thread when the backend is broken. The next start recovers from the WAL. */
  readonly stop: (cause: unknown) => never
}

/** The session of the only backend. One client at a time uses it, and the others wait. */
export class Session {
  readonly #pg: PGlite
  readonly #disk: DurableFs | undefined
  readonly #checkpointAfterBytes: number
  readonly #stop: (cause: unknown) => never
  readonly #scratch = new Uint8Array(scratchBytes)
  readonly #waiting: Array<Client> = []
  #used = 0
  #active: Client | undefined
  #idle = true

  constructor({ checkpointAfterBytes, disk, pg, stop }: SessionOptions) {
    this.#pg = pg
    this.#disk = disk
    this.#checkpointAfterBytes = checkpointAfterBytes
    this.#stop = stop
    stopAtFatalError(pg, stop)
  }

  connect(port: MessagePort, flow: SharedArrayBuffer): void {
    const client = new Client(port, flow)
    const reader = new InputReader()
    const receive = (chunk: Chunk) => {
      if (chunk === null) return
      for (const input of reader.push(chunk)) this.#receive(client, input)
    }
    port.on("message", (chunk: Chunk) => {
      try {
        receive(chunk)
        // Input that has already arrived shares the fsync. This doubles or triples the number of
        // commits per second.
        for (let more = 0; more < maxChunksPerFlush; more++) {
          const next: { readonly message: Chunk } | undefined = receiveMessageOnPort(port)
          if (next === undefined) break
          receive(next.message)
        }
      } catch (cause) {
        if (!(cause instanceof ProtocolViolation)) throw cause
        // Invalid input gets no response. The driver reports the closed connection.
        return this.#leave(client)
      }
      this.#send(client)
    })
    port.on("close", () => this.#leave(client))
  }

  /** Shuts down cleanly with a checkpoint, so that the next start has nothing to recover. */
  close(): Promise<void> {
    this.#reset()
    return this.#pg.close()
  }

  /**
   * Vacuums the table that needs it most, then runs a checkpoint. Called between two statements.
   */
  async maintain(): Promise<void> {
    if (!this.#idle) return
    // Between the two calls, PGlite awaits only promises that are already resolved, so no statement
    // of a client runs in between.
    const [due] = await this.#pg.exec(nextVacuum)
    const command: unknown = due?.rows[0]?.["command"]
    if (typeof command === "string") await this.#pg.exec(command)
    if (this.#disk === undefined || this.#disk.walBytes > 0) this.#checkpoint()
  }

  #receive(client: Client, input: Input): void {
    switch (input._tag) {
      // The engine cannot be interrupted, so a cancel request is ignored. A server that finds
      // nothing to cancel does the same.
      case "Cancel":
      case "Terminate":
        return this.#leave(client)
      case "Startup":
        if (this.#active === undefined) return this.#start(client, input.packet)
        client.startup = input.packet
        this.#waiting.push(client)
        return
      case "Messages":
        // Clients send messages only after the greeting, so these messages come from the active
        // client.
        if (client === this.#active) this.#answer(client, input.bytes, input.complete)
    }
  }

  #start(client: Client, packet: Uint8Array): void {
    this.#active = client
    const settings = startupSettings(packet)
    if (settings.length > 0) {
      const calls = settings.map(
        ([name, value]) => `set_config(${quoteLiteral(name)}, ${quoteLiteral(value)}, false)`
      )
      const output: Array<Uint8Array> = []
      this.#run(queryMessage(`SELECT ${calls.join(", ")}`), (bytes) => output.push(bytes.slice()))
      const error = findError(concatChunks(output))
      if (error !== undefined) {
        client.post(error)
        return this.#leave(client)
      }
    }
    this.#answer(client, packet, true)
  }

  #answer(client: Client, bytes: Uint8Array, complete: boolean): void {
    this.#run(bytes, (output) => {
      for (let at = 0; at < output.length;) {
        const part = output.subarray(at, at + scratchBytes - this.#used)
        this.#scratch.set(part, this.#used)
        this.#used += part.length
        at += part.length
        if (this.#used === scratchBytes) this.#send(client)
      }
    })
    this.#idle = complete && !this.#pg.isInTransaction()
    const walBytes = this.#disk?.walBytes ?? 0
    if (this.#idle && walBytes > this.#checkpointAfterBytes) this.#checkpoint()
  }

  /** Flushes the WAL before a response is sent, because an acknowledged commit must be durable. */
  #send(client: Client): void {
    if (client !== this.#active || this.#used === 0) return
    this.#disk?.flush()
    client.post(this.#scratch.slice(0, this.#used))
    this.#used = 0
  }

  #leave(client: Client): void {
    client.end()
    const at = this.#waiting.indexOf(client)
    if (at >= 0) this.#waiting.splice(at, 1)
    if (client !== this.#active) return
    this.#reset()
    this.#used = 0
    this.#active = undefined
    const next = this.#waiting.shift()
    if (next?.startup === undefined) return
    this.#start(next, next.startup)
    this.#send(next)
  }

  /** Ends the client's session: its batch, its transaction and its settings. */
  #reset(): void {
    // These are three messages, because DISCARD ALL fails inside a transaction.
    const messages = [syncMessage, queryMessage("ROLLBACK"), queryMessage("DISCARD ALL")]
    for (const message of messages) this.#run(message, ignoreError)
    this.#idle = true
  }

  #checkpoint(): void {
    this.#run(queryMessage("CHECKPOINT"), ignoreError)
    this.#disk?.resetWalBytes()
  }

  /**
   * Processes the message completely. PGlite's promise is already settled when this returns, and
   * only reports a failure.
   */
  #run(message: Uint8Array, onRawData: (bytes: Uint8Array) => void): void {
    this.#pg.execProtocolRawStream(message, { syncToFs: false, onRawData }).catch(this.#stop)
  }
}

class Client {
  readonly port: MessagePort
  readonly #flow: Int32Array
  startup: Uint8Array | undefined

  constructor(port: MessagePort, flow: SharedArrayBuffer) {
    this.port = port
    this.#flow = new Int32Array(flow)
  }

  /** Sends a chunk. Then sleeps while the client has more than `maxUnreadResultBytes` unread bytes. */
  post(chunk: Uint8Array<ArrayBuffer>): void {
    if (Atomics.load(this.#flow, isClosedIndex) === 1) return
    let unread = Atomics.add(this.#flow, unreadBytesIndex, chunk.length) + chunk.length
    this.port.postMessage(chunk, [chunk.buffer])
    while (unread > maxUnreadResultBytes && Atomics.load(this.#flow, isClosedIndex) === 0) {
      Atomics.wait(this.#flow, unreadBytesIndex, unread)
      unread = Atomics.load(this.#flow, unreadBytesIndex)
    }
  }

  end(): void {
    this.port.postMessage(null)
    this.port.close()
  }
}

/**
 * Stops the thread at an error that breaks the backend. PGlite calls the main loop again after any
 * exception. After a FATAL error (such as a COPY that reaches the end of its input) or a
 * WebAssembly trap, this would be an endless loop.
 */
const stopAtFatalError = (pg: PGlite, stop: (cause: unknown) => never): void => {
  const engine = pg.Module
  const runOnce = engine._PostgresMainLoopOnce
  engine._PostgresMainLoopOnce = () => {
    try {
      runOnce()
    } catch (cause) {
      const status = cause instanceof Object && "status" in cause ? cause.status : undefined
      if (status !== jumpToMainLoop) stop(cause)
      throw cause
    }
  }
}

const ignoreError = (): void => {}
