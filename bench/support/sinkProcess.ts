/**
 * The receiver of all calls, in a process of its own: notes which came when, and answers "ok". It reads
 * HTTP by hand, so that the processors are left to those who are measured.
 */
import { createServer, type Socket } from "node:net"
import { listen } from "./listen.ts"

export interface Arrivals {
  readonly ids: ReadonlyArray<string>
  /** Milliseconds since the epoch, of the call at the same place in `ids`. */
  readonly times: ReadonlyArray<number>
}

const ids: Array<string> = []
const times: Array<number> = []
let expected = Number.POSITIVE_INFINITY

const tellWhenComplete = () => {
  if (ids.length < expected) return
  process.send?.({ ids, times } satisfies Arrivals)
  expected = Number.POSITIVE_INFINITY
}

const answer = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok"

/** The length of the first request, once all of it is here. */
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
    // The clock that PostgreSQL has too.
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
      socket.write(answer)
    }
    tellWhenComplete()
  })
}

process.on("message", (count: number) => {
  expected = count
  tellWhenComplete()
})
process.on("disconnect", () => process.exit())

process.send?.(`http://127.0.0.1:${await listen(createServer(receive))}/`)
