import { headersProblems } from "@scheduling/domain/calls/CallHeaders"
import { parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import type { SuccessRule } from "@scheduling/domain/calls/CallOptions"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import { header } from "@scheduling/domain/webhooks/StandardWebhooks"
import {
  Clock,
  Context,
  Effect,
  Exit,
  Layer,
  Option,
  type Redacted,
  Result,
  type Scope
} from "effect"
import packageJson from "../package.json" with { type: "json" }
import { Connection, type OutgoingRequest } from "./exchange/Connection.ts"
import { type ConnectionLimits, Connections, type Open } from "./exchange/Connections.ts"
import { EgressAllow, type EgressRules, makeConnect, Resolver } from "./egress/Egress.ts"
import { parseCidrs } from "./egress/EgressRules.ts"
import { Exchange } from "./exchange/Exchange.ts"
import { type Answer, judgeExchange, refused } from "./judgeExchange.ts"
import { OwnEcho } from "./exchange/OwnEcho.ts"
import { keyOf, signSync } from "./signSync.ts"
import { Timeouts } from "./Timeouts.ts"

export interface CallRequest {
  readonly workspace_id: string
  readonly execution_id: string
  readonly attempt: number
  /** What the call is a run of. Null if it is of no task. */
  readonly task: { readonly id: string; readonly scheduled_ms: number } | null
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Not sent with GET and HEAD: HTTP gives a body no meaning there. */
  readonly body: string | null
  /**
   * From connecting to the last byte. Time spent waiting for one of our connections does not count.
   */
  readonly timeout_seconds: number
  /** Which answers are a success. Those with 2xx where nothing is said. */
  readonly success?: SuccessRule | null
  /** `whsec_...`, newest first. There are two while a secret is being rotated, and none where nothing is signed. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Made before, by whoever has the secrets. */
  readonly signature?: Signature
  /** How much of the answer's body is kept. 10,000 bytes where nothing is said. */
  readonly keep_bytes?: number
  /** Where the receiver says that the job is done. */
  readonly complete_url?: string
  /** Tells the receiver which trace the call belongs to. A header of the user goes first. */
  readonly traceparent?: string
}

export interface Signature {
  readonly id: string
  /** Unix seconds. */
  readonly timestamp: number
  readonly signature: string
}

export interface CallResult {
  readonly status_code: number | null
  /** The first bytes, as many as are kept. */
  readonly response_body: string | null
  readonly error: string | null
  /** Only on a retryable outcome. */
  readonly retry_after_seconds: number | null
  readonly outcome: "success" | "retryable" | "failed"
  /** The answer says that the job goes on after it. */
  readonly completes_later: boolean
  readonly duration_ms: number
}

export const ConnectionsLimits = Context.Reference<ConnectionLimits>(
  "@scheduling/calls/ConnectionsLimits",
  { defaultValue: () => ({ perOrigin: 512, idle: 4_096 }) }
)

/**
 * Makes the connections that need TLS. Without it they are made here, as all others are, and each
 * handshake keeps this thread for a millisecond.
 */
export const SecureConnections = Context.Reference<
  ((rules: EgressRules) => Effect.Effect<Open, never, Scope.Scope>) | undefined
>("@scheduling/calls/SecureConnections", { defaultValue: () => undefined })

/** The outgoing HTTP call that the service makes for its users. Every outcome is a value. */
export class Call extends Context.Service<
  Call,
  {
    readonly run: (request: CallRequest) => Effect.Effect<CallResult>
    /**
     * The same without a fiber, which takes a twentieth of a run. Tells once how the call ended and
     * returns how to cut it off: then it tells that the call was interrupted.
     */
    readonly begin: (
      request: CallRequest,
      onEnd: (end: Exit.Exit<CallResult>) => void
    ) => () => void
  }
>()("@scheduling/calls/Call") {
  static readonly layer: Layer.Layer<Call> = Layer.effect(
    Call,
    Effect.gen(function* () {
      const allow = yield* EgressAllow
      const resolve = yield* Resolver
      const limits = yield* ConnectionsLimits
      const clock = yield* Clock.Clock
      const timeouts = yield* Timeouts.make
      const openHere = opener({ allow, resolve })
      const makeSecure = yield* SecureConnections
      const openSecure = makeSecure === undefined ? openHere : yield* makeSecure({ allow, resolve })
      const connections = new Connections(
        (origin) => (origin.startsWith("https:") ? openSecure(origin) : openHere(origin)),
        limits,
        timeouts
      )
      yield* Effect.addFinalizer(() => connections.closeIdle)
      const ownEcho = yield* OwnEcho
      // These are kept apart: on a shared connection, a call to any other path would get through
      // too.
      const toOwnEcho = new Connections(opener({ allow: ownAddress, resolve }), limits, timeouts)
      yield* Effect.addFinalizer(() => toOwnEcho.closeIdle)

      const begin = (request: CallRequest, onEnd: (end: Exit.Exit<CallResult>) => void) => {
        const started = clock.monotonicTimeNanosUnsafe()
        let cutOff = () => {}
        let hasEnded = false
        const end = (exit: Exit.Exit<CallResult>) => {
          hasEnded = true
          onEnd(exit)
        }
        const answer = (judged: Answer) => {
          const nanos = clock.monotonicTimeNanosUnsafe() - started
          return { ...judged, duration_ms: Math.round(Number(nanos) / 1e6) }
        }
        const make = () => {
          const outgoing = prepare(request, clock)
          if (Result.isFailure(outgoing))
            return end(Exit.succeed(answer(refused(outgoing.failure))))
          const exchange = new Exchange(request.keep_bytes)
          const { success = null, timeout_seconds } = request
          const { origin, path } = outgoing.success
          const way = origin + path === ownEcho ? toOwnEcho : connections
          cutOff = way.begin(outgoing.success, exchange, timeout_seconds * 1_000, (timedOut) => {
            const timeout = timedOut
              ? `timeout after ${timeout_seconds} s while ${exchange.phase}`
              : null
            const judged = () =>
              judgeExchange(exchange, timeout, success, clock.currentTimeMillisUnsafe())
            end(exitOf(() => answer(judged())))
          })
        }
        const made = exitOf(make)
        if (Exit.isFailure(made) && !hasEnded) end(Exit.failCause(made.cause))
        return () => {
          if (hasEnded) return
          cutOff()
          end(Exit.interrupt())
        }
      }

      return Call.of({
        begin,
        run: (request) =>
          Effect.callback((resume) => {
            const cutOff = begin(request, resume)
            return Effect.sync(cutOff)
          })
      })
    })
  )
}

/** What is thrown where no fiber would catch it is a defect of the call, and of nothing else. */
export const exitOf = <A>(get: () => A): Exit.Exit<A> => {
  try {
    return Exit.succeed(get())
  } catch (defect) {
    return Exit.die(defect)
  }
}

const opener = (rules: EgressRules): Open => {
  const connect = makeConnect(rules)
  return (origin) => new Connection(origin, connect)
}

const ownAddress = Result.getOrThrow(parseCidrs("127.0.0.1/32"))

const userAgent = `scheduling-service/${packageJson.version}`

/** Builds the signed request. A failure says why the call cannot be made at all. */
const prepare = (
  request: CallRequest,
  clock: Clock.Clock
): Result.Result<OutgoingRequest, string> => {
  const url = parseCallUrl(request.url)
  if (Result.isFailure(url)) return Result.fail(`url ${url.failure}`)
  // This was checked at creation too, but a chain step's headers are filled in from other answers.
  const problem = headersProblems(request.headers)[0]
  if (problem !== undefined) {
    return Result.fail(["header", ...problem.path, problem.issue].join(" "))
  }
  const body = request.method === "GET" || request.method === "HEAD" ? null : request.body
  if (request.secrets.some((secret) => Option.isNone(keyOf(secret)))) {
    return Result.fail("the workspace's signing secret is not valid")
  }
  return Result.succeed({
    origin: url.success.origin,
    path: url.success.pathname + url.success.search,
    method: request.method,
    headers: () => signedHeaders(request, body, clock.currentTimeMillisUnsafe()),
    body,
    workspace_id: request.workspace_id
  })
}

const signedHeaders = (request: CallRequest, body: string | null, nowMillis: number) => {
  const message = {
    id: request.execution_id,
    timestamp: Math.floor(nowMillis / 1_000),
    body: body ?? ""
  }
  const headers = [
    ...(request.signature !== undefined
      ? signatureHeaders(request.signature)
      : request.secrets.length === 0
        ? []
        : signatureHeaders({
            ...message,
            signature: Option.getOrElse(signSync(message, request.secrets), () => "")
          })),
    "idempotency-key",
    request.execution_id
  ]
  if (request.task !== null) {
    headers.push(
      "x-scheduling-task-id",
      request.task.id,
      "x-scheduling-execution-id",
      request.execution_id,
      "x-scheduling-attempt",
      String(request.attempt),
      "x-scheduling-scheduled-for",
      new Date(request.task.scheduled_ms).toISOString()
    )
  }
  if (request.complete_url !== undefined) {
    headers.push("scheduling-complete-url", request.complete_url)
  }
  const given = new Set<string>()
  for (const [name, value] of Object.entries(request.headers)) {
    given.add(name.toLowerCase())
    headers.push(name, value)
  }
  if (request.traceparent !== undefined && !given.has("traceparent")) {
    headers.push("traceparent", request.traceparent)
  }
  if (!given.has("user-agent")) headers.push("user-agent", userAgent)
  // The kept part of the answer is for people to read, and nothing here decompresses it.
  if (!given.has("accept-encoding")) headers.push("accept-encoding", "identity")
  if (body !== null && !given.has("content-type")) headers.push("content-type", "application/json")
  return headers
}

const signatureHeaders = ({ id, signature, timestamp }: Signature) => [
  header.id,
  id,
  header.timestamp,
  String(timestamp),
  header.signature,
  signature
]
