/**
 * The receiver for all calls, in a separate process. Records each call's arrival time and responds
 * with "ok". Parses HTTP by hand, to leave the CPU to the measured programs.
 */
import { constants } from "node:crypto"
import { createServer, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { listen } from "./listen.ts"
import type { Arrivals, SinkOptions } from "./sink.ts"

const ids: Array<string> = []
const times: Array<number> = []
let expected = Number.POSITIVE_INFINITY

const tellWhenComplete = () => {
  if (ids.length < expected) return
  process.send?.({ ids, times } satisfies Arrivals)
  expected = Number.POSITIVE_INFINITY
}

const { answer, certificate, keepsConnections }: SinkOptions = JSON.parse(process.argv[2] ?? "")

const answered = [
  "HTTP/1.1 200 OK",
  "content-type: text/plain",
  `content-length: ${answer.length}`,
  ...(keepsConnections ? [] : ["connection: close"]),
  "",
  answer
].join("\r\n")

/** Returns the first request's length, or undefined while the request is incomplete. */
const lengthOfFirst = (received: string): number | undefined => {
  const head = received.indexOf("\r\n\r\n")
  if (head === -1) return undefined
  const [, body = "0"] = /\r\ncontent-length: *(\d+)/i.exec(received) ?? []
  const length = head + 4 + Number(body)
  return received.length < length ? undefined : length
}

const receive = (socket: Socket) => {
  let received = ""
  socket.setNoDelay(true)
  socket.setEncoding("latin1")
  socket.on("error", () => socket.destroy())
  socket.on("data", (text: string) => {
    // Uses the system clock, because PostgreSQL uses it too.
    const now = Date.now()
    received += text
    for (
      let length = lengthOfFirst(received);
      length !== undefined;
      length = lengthOfFirst(received)
    ) {
      const [, id = ""] = /\r\nidempotency-key: *([^\r]+)/i.exec(received) ?? []
      ids.push(id)
      times.push(now)
      received = received.slice(length)
      if (keepsConnections) socket.write(answered)
      else socket.end(answered)
    }
    tellWhenComplete()
  })
}

process.on("message", (count: number) => {
  expected = count
  tellWhenComplete()
})
process.on("disconnect", () => process.exit())

const server =
  certificate === undefined
    ? createServer(receive)
    : createTlsServer(
        // Without tickets, no TLS session is resumed, so every connection costs as much as one to a
        // new target.
        { ...certificate, secureOptions: keepsConnections ? 0 : constants.SSL_OP_NO_TICKET },
        receive
      )
const scheme = certificate === undefined ? "http" : "https"
process.send?.(`${scheme}://127.0.0.1:${await listen(server)}/`)
