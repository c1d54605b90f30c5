import { Effect } from "effect"
import type { RequestListener } from "node:http"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"

/**
 * An address that only the sink listens on, so that `EGRESS_ALLOW` does not permit calls to other
 * servers.
 */
export const sinkAddress = "127.0.0.2"

/** Starts a server for generated tasks' calls. A call's path determines the response. */
export const startSink = Effect.map(
  Effect.suspend(() => httpTarget(answer, sinkAddress)),
  (port) => `http://${sinkAddress}:${port}`
)

const answer: RequestListener = (request, response) => {
  request.resume()
  const [, what = ""] = /^\/(\w*)/.exec(request.url ?? "") ?? []
  switch (what) {
    case "404":
    case "500":
      return response.writeHead(Number(what)).end("no")
    case "retry":
      return response.writeHead(503, { "retry-after": "1" }).end()
    case "slow":
      return void setTimeout(() => response.end("at last"), 2_000)
    case "drop":
      return request.socket.destroy()
    case "big":
      return response.end(Buffer.alloc(64 * 1024, "🦆\0\xff"))
    case "json":
      return response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"items":[{"id":12345678901234567890}],"odd key":"\\ud83d\\u0000\\r\\n{{ x }}"}')
    case "calendar":
      return response.end(calendar)
    default:
      return response.end("ok")
  }
}

const calendar = [
  "BEGIN:VCALENDAR",
  "VERSION:2.0",
  "PRODID:-//fuzz//EN",
  "BEGIN:VEVENT",
  "UID:1@fuzz",
  "DTSTAMP:20260101T000000Z",
  "DTSTART;VALUE=DATE:20261224",
  "RRULE:FREQ=YEARLY",
  "END:VEVENT",
  "END:VCALENDAR",
  ""
].join("\r\n")
