import { maxStoredPingBodyBytes } from "@scheduling/domain/monitors/heartbeat/HeartbeatEvent"
import { CallerChosenKey } from "@scheduling/domain/shared/requests/CallerChosenKey"
import { Effect, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { readBodyStart } from "../../http/index.ts"
import { Meters } from "../../core/index.ts"
import { PingKeys, type PingName } from "./PingKeys.ts"
import { type Ping, Pings } from "./Pings.ts"

/**
 * Handles pings before the router, because a node receives about as many pings as other requests.
 * The responses are plain text, which is easy to read in a shell. Other requests are passed to
 * `answer`.
 */
export const handlePingsOr = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function* () {
    const keys = yield* PingKeys
    const pings = yield* Pings
    const count = (yield* Meters).counts(
      "scheduling_pings_total",
      "Pings of heartbeats. `unknown`: no monitor has the ping URL.",
      "outcome",
      ["received", "unknown", "bad"]
    )
    const countResponse = (response: HttpServerResponse.HttpServerResponse) => {
      count(response.status < 300 ? "received" : response === bad ? "bad" : "unknown")
      return response
    }
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
        request.url.startsWith("/ping/") && methods.has(request.method)
          ? Effect.map(answerPing(pings, keys, request), countResponse)
          : answer
    )
  })

/** Reads a ping's path and query, or returns why the ping is rejected. */
export const readPing = (
  url: string
):
  | (Pick<Ping, "signal"> & {
      /** The id of a ping URL, or the key of a monitor in a URL with a ping key. */
      readonly monitor: string | PingName
      readonly creates: boolean
      readonly exit_status: number | null
    })
  | "bad"
  | "unknown" => {
  const [, pingId, pingKey = "", slug = "", signal, query = ""] = shape.exec(url) ?? []
  if (pingId === undefined && !isCallerChosenKey(slug)) return "unknown"
  if (signal !== undefined && !known.test(signal)) return /^\d+$/.test(signal) ? "bad" : "unknown"
  const parameters = new URLSearchParams(query)
  const rid = parameters.get("rid")?.toLowerCase() ?? null
  if (rid !== null && !uuid.test(rid)) return "bad"
  const exit_status = /^\d/.test(signal ?? "") ? Number(signal) : null
  const isFailure = signal === "fail" || (exit_status !== null && exit_status > 0)
  return {
    monitor: pingId?.toLowerCase() ?? { pingKey, slug },
    creates: parameters.get("create") === "1",
    exit_status,
    signal: isFailure
      ? { type: "fail", rid, exit_status }
      : { type: signal === "start" || signal === "log" ? signal : "success", rid }
  }
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST"])

const isCallerChosenKey = Schema.is(CallerChosenKey)

/**
 * Matches a ping URL: a UUID, or a ping key and a heartbeat's key, followed by the signal and the
 * query.
 */
const shape =
  /^\/ping\/(?:([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})|([\w-]{22})\/([^/?]+))(?:\/([^/?]+))?(?:\?(.*))?$/i

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const known = /^(?:start|fail|log|\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/

const plainTextResponse = (status: number, text: string) =>
  HttpServerResponse.text(`${text}\n`, {
    status,
    headers: { "cache-control": "no-store", "ping-body-limit": String(maxStoredPingBodyBytes) }
  })

const received = plainTextResponse(200, "OK")
const created = plainTextResponse(201, "Created")
const full = plainTextResponse(
  429,
  "no heartbeat was created: the plan allows no more monitors, or pings have created too many in the last minute"
)
const notFound = plainTextResponse(404, "this ping URL does not exist")
const bad = plainTextResponse(400, "rid must be a UUID, and the exit status a number from 0 to 255")

const answerPing = Effect.fnUntraced(function* (
  pings: Pings["Service"],
  keys: PingKeys["Service"],
  request: HttpServerRequest.HttpServerRequest
) {
  const read = readPing(request.url)
  if (read === "unknown") return notFound
  if (read === "bad") return bad
  const { creates, exit_status, monitor, signal } = read
  const named =
    typeof monitor === "string"
      ? { pingId: monitor, isNew: false }
      : yield* creates ? keys.resolveOrCreate(monitor) : keys.resolve(monitor)
  if (named === "unknown") return notFound
  if (named === "full") return full
  const { isNew, pingId } = named
  const body =
    request.method === "POST" ? yield* readBodyStart(request, maxStoredPingBodyBytes) : ""
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
  if (!isKnown) return notFound
  return isNew ? created : received
})
