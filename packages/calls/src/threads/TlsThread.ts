import { IpNetwork } from "effect/net"
import { getCACertificates } from "node:tls"
import { Worker } from "node:worker_threads"
import { ResponseTruncated } from "../exchange/ResponseParser.ts"
import { DescribedError } from "../describeError.ts"
import type { ReusableConnection } from "../exchange/Connections.ts"
import type { ConnectOptions } from "../egress/Egress.ts"
import type { Exchange } from "../exchange/Exchange.ts"
import { type OutgoingRequest, RequestNotSent } from "../OutgoingRequest.ts"
import type {
  MessageToThread,
  ThreadRequest,
  MessageFromThread,
  TlsThreadSettings
} from "./messages.ts"

/**
 * Opens TLS connections in a thread. The main thread still applies permits, turns and timeouts, and
 * chooses the connection of each call.
 */
export class TlsThread {
  /**
   * The worker thread. It is started on first use, because it takes 65 MB, and restarted after a
   * crash.
   */
  #worker: Worker | undefined
  #orders: Array<MessageToThread> = []
  #lastId = 0
  readonly #connections = new Map<number, RemoteConnection>()
  readonly #rules: ConnectOptions
  readonly #onCrash: (error: unknown) => void

  /** `onCrash` receives the cause of a crash. The thread's calls only see closed connections. */
  constructor(rules: ConnectOptions, onCrash: (error: unknown) => void) {
    this.#rules = rules
    this.#onCrash = onCrash
  }

  open(origin: string): ReusableConnection {
    const id = ++this.#lastId
    const connection = new RemoteConnection({
      open: () => this.#enqueue(["open", id, origin]),
      send: (request) => this.#enqueue(["send", id, request]),
      close: () => {
        if (this.#connections.delete(id)) this.#enqueue(["close", id])
      }
    })
    this.#connections.set(id, connection)
    return connection
  }

  /** Stops the thread and closes all its connections. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    this.#closeConnectionsOf(worker)
    await worker.terminate()
  }

  /** Sends all commands of one microtask in one message. */
  #enqueue(order: MessageToThread): void {
    if (this.#orders.length === 0) {
      queueMicrotask(() => {
        const orders = this.#orders
        this.#orders = []
        this.#worker ??= this.#start()
        this.#worker.postMessage(orders)
      })
    }
    this.#orders.push(order)
  }

  #start(): Worker {
    const data: TlsThreadSettings = {
      allow: this.#rules.allow.map(IpNetwork.format),
      trusted: getCACertificates("default")
    }
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      name: "tls",
      workerData: data
    })
    worker.unref()
    worker
      .on("message", (reports: ReadonlyArray<MessageFromThread>) => {
        for (const report of reports) this.#receive(report)
      })
      .on("error", this.#onCrash)
      .on("exit", () => this.#closeConnectionsOf(worker))
    return worker
  }

  #receive(report: MessageFromThread): void {
    if (report[0] === "resolve") return this.#resolve(report[1], report[2])
    const [kind, id] = report
    const connection = this.#connections.get(id)
    if (kind === "idle end" || kind === "error") this.#connections.delete(id)
    connection?.receive(report)
  }

  #resolve(question: number, hostname: string): void {
    this.#rules.resolve(hostname).then(
      (addresses) => this.#enqueue(["resolved", question, addresses]),
      (error: NodeJS.ErrnoException) => this.#enqueue(["not resolved", question, error.code ?? ""])
    )
  }

  /** Closes the connections of a thread that has stopped. */
  #closeConnectionsOf(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const lost = [...this.#connections.values()]
    this.#connections.clear()
    for (const connection of lost) connection.receive(["idle end", 0])
  }
}

type ConnectionReport = Exclude<MessageFromThread, readonly ["resolve", ...ReadonlyArray<unknown>]>

interface Orders {
  readonly open: () => void
  readonly send: (request: ThreadRequest) => void
  readonly close: () => void
}

class RemoteConnection implements ReusableConnection {
  onIdleEnd: () => void = () => {}
  #exchange: Exchange | undefined
  #isOpened = false
  readonly #order: Orders

  constructor(order: Orders) {
    this.#order = order
  }

  open(): void {
    this.#isOpened = true
    this.#order.open()
  }

  send({ head, maySend, ...request }: OutgoingRequest, exchange: Exchange): void {
    this.#exchange = exchange
    if (maySend?.() === false) return this.#fail(new RequestNotSent())
    if (!this.#isOpened) this.open()
    // The request is signed before it is passed to the thread, so its signature may be some seconds
    // old by the time a new connection is open.
    this.#order.send({ ...request, head: head(), keptBytes: exchange.keptBytes })
  }

  close(): void {
    this.#exchange = undefined
    this.#order.close()
  }

  receive(report: ConnectionReport): void {
    const exchange = this.#exchange
    switch (report[0]) {
      case "sent":
        if (report[2] !== null) exchange?.onOpening(report[2])
        return exchange?.onSent()
      case "first byte":
        return exchange?.onFirstByte()
      case "head":
        return exchange?.onHead(report[2], report[3])
      case "body":
        return exchange?.onBody(Buffer.from(report[2].buffer))
      case "end":
        this.#exchange = undefined
        return exchange?.onEnd(report[2])
      case "error":
        if (report[3] !== null) exchange?.onOpening(report[3])
        return this.#fail(new DescribedError({ described: report[2] }))
      case "idle end":
        if (exchange === undefined) return this.onIdleEnd()
        // The connection closed while the request was being passed to the thread.
        exchange.onSent()
        return this.#fail(new ResponseTruncated())
    }
  }

  #fail(error: Error): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    exchange?.onError(error)
  }
}
