import { maxPingBodyBytes } from "@scheduling/domain/monitors/heartbeat/HeartbeatEvent"
import { Effect, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { plainBody } from "../../http/index.ts"
import { Meters } from "../../core/index.ts"
import { type Ping, Pings } from "./Pings.ts"

/**
 * Handles pings before the router, because a node gets about as many pings as other requests.
 * Responses are plain text for shells. Other requests are passed to `answer`.
 */
export const handlePingsOr = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function* () {
    const pings = yield* Pings
    const count = (yield* Meters).counts(
      "scheduling_pings_total",
      "Pings of heartbeats: `unknown` names no monitor.",
      "outcome",
      ["received", "unknown", "bad"]
    )
    const counted = (response: HttpServerResponse.HttpServerResponse) => {
      count(response.status === 200 ? "received" : response === bad ? "bad" : "unknown")
      return response
    }
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
        request.url.startsWith("/ping/") && methods.has(request.method)
          ? Effect.map(answerPing(pings, request), counted)
          : answer
    )
  })

/** Reads the path and the query of a ping, or returns the reason to reject it. */
export const readPing = (
  url: string
):
  | (Pick<Ping, "pingId" | "signal"> & { readonly exit_status: number | null })
  | "bad"
  | "unknown" => {
  const [, pingId = "", signal, query = ""] = shape.exec(url) ?? []
  if (!uuid.test(pingId)) return "unknown"
  if (signal !== undefined && !known.test(signal)) return /^\d+$/.test(signal) ? "bad" : "unknown"
  const rid = new URLSearchParams(query).get("rid")?.toLowerCase() ?? null
  if (rid !== null && !uuid.test(rid)) return "bad"
  const exit_status = /^\d/.test(signal ?? "") ? Number(signal) : null
  const isFailure = signal === "fail" || (exit_status !== null && exit_status > 0)
  return {
    pingId: pingId.toLowerCase(),
    exit_status,
    signal: isFailure
      ? { type: "fail", rid, exit_status }
      : { type: signal === "start" || signal === "log" ? signal : "success", rid }
  }
}

// ---------------------------------------------------------------------------

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST"])

const shape = /^\/ping\/([^/?]+)(?:\/([^/?]+))?(?:\?(.*))?$/

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const known = /^(?:start|fail|log|\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/

const plain = (status: number, text: string) =>
  HttpServerResponse.text(`${text}\n`, {
    status,
    headers: { "cache-control": "no-store", "ping-body-limit": String(maxPingBodyBytes) }
  })

const received = plain(200, "OK")
const notFound = plain(404, "this ping URL does not exist")
const bad = plain(400, "rid must be a UUID, and the exit status a number from 0 to 255")

const answerPing = Effect.fnUntraced(function* (
  pings: Pings["Service"],
  request: HttpServerRequest.HttpServerRequest
) {
  const read = readPing(request.url)
  if (read === "unknown") return notFound
  if (read === "bad") return bad
  const { exit_status, pingId, signal } = read
  const body = request.method === "POST" ? yield* plainBody(request, maxPingBodyBytes) : ""
  const ip = Option.getOrUndefined(request.remoteAddress)
  const user_agent = request.headers["user-agent"]?.slice(0, 200)
  const isKnown = yield* pings.receive({
    pingId,
    signal,
    details: {
      method: request.method,
      ...(signal.rid === null ? {} : { rid: signal.rid }),
      ...(exit_status === null ? {} : { exit_status }),
      ...(ip === undefined ? {} : { ip }),
      ...(user_agent === undefined ? {} : { user_agent }),
      ...(body === "" ? {} : { body })
    }
  })
  return isKnown ? received : notFound
})
