/** A thread that opens TLS connections for the calls of the main thread. */
import { Result } from "effect"
import { setDefaultCACertificates } from "node:tls"
import { parentPort, workerData } from "node:worker_threads"
import { describeError } from "../describeError.ts"
import { Connection, type ExchangeListener } from "../exchange/Connection.ts"
import { type ConnectTimes, makeConnect } from "../egress/Egress.ts"
import { parseCidrs } from "../egress/EgressRules.ts"
import type { ResolveHostName } from "../egress/HostNames.ts"
import type { MessageToThread, MessageFromThread, TlsThreadSettings } from "./messages.ts"

const { allow, trusted }: TlsThreadSettings = workerData
const port = parentPort
if (port === null) throw new Error("worker.ts runs as a worker thread")

setDefaultCACertificates([...trusted])

let reports: Array<MessageFromThread> = []

/** Sends all reports of one event loop iteration in one message. */
const report = (one: MessageFromThread): void => {
  if (reports.length === 0) {
    setImmediate(() => {
      const all = reports
      reports = []
      port.postMessage(all)
    })
  }
  reports.push(one)
}

const questions = new Map<number, PromiseWithResolvers<ReadonlyArray<string>>>()
let asked = 0

/** The main thread resolves names, so that all threads share one resolver. */
const resolve: ResolveHostName = (hostname) => {
  const question = ++asked
  const answer = Promise.withResolvers<ReadonlyArray<string>>()
  questions.set(question, answer)
  report(["resolve", question, hostname])
  return answer.promise
}

const connect = makeConnect({ allow: Result.getOrThrow(parseCidrs(allow.join(","))), resolve })

const connections = new Map<number, Connection>()

const listenerOf = (id: number, keptBytes: number): ExchangeListener => {
  let times: ConnectTimes | null = null
  return {
    keptBytes,
    onOpening: (opening) => (times = opening),
    onSent: () => report(["sent", id, times]),
    onFirstByte: () => report(["first byte", id]),
    onHead: (statusCode, headers) => report(["head", id, statusCode, headers]),
    // The bytes are copied, because otherwise the whole buffer of 64 KiB would be sent.
    onBody: (bytes) => report(["body", id, new Uint8Array(bytes)]),
    onEnd: (reusable) => report(["end", id, reusable]),
    onError: (error) => {
      connections.delete(id)
      report(["error", id, describeError(error), times])
    }
  }
}

const open = (id: number, origin: string): void => {
  const connection = new Connection(origin, connect)
  connection.onIdleEnd = () => {
    connections.delete(id)
    report(["idle end", id])
  }
  connections.set(id, connection)
  connection.open()
}

const follow = (order: MessageToThread): void => {
  switch (order[0]) {
    case "open":
      return open(order[1], order[2])
    case "send": {
      const [, id, request] = order
      // If the connection has just closed, that was already reported.
      connections
        .get(id)
        ?.send({ ...request, head: () => request.head }, listenerOf(id, request.keptBytes))
      return
    }
    case "close": {
      connections.get(order[1])?.close()
      connections.delete(order[1])
      return
    }
    case "resolved":
    case "not resolved": {
      const [kind, question, answer] = order
      const asking = questions.get(question)
      questions.delete(question)
      if (kind === "resolved") asking?.resolve(answer)
      else asking?.reject(Object.assign(new Error(), { code: answer }))
    }
  }
}

port.on("message", (orders: ReadonlyArray<MessageToThread>) => {
  for (const order of orders) follow(order)
})
