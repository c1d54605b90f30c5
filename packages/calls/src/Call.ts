import { headersProblems } from "@scheduling/domain/shared/CallHeaders"
import { parseCallUrl } from "@scheduling/domain/shared/CallUrl"
import type { SuccessRule } from "@scheduling/domain/shared/CallOptions"
import type { CallMethod } from "@scheduling/domain/shared/HttpCall"
import { header, parseSecret, signedPrefix } from "@scheduling/domain/webhooks/StandardWebhooks"
import { type Clock, Context, Effect, Layer, Option, Redacted, Result } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import packageJson from "../package.json" with { type: "json" }
import { describeError } from "./CallErrors.ts"
import type { OutgoingRequest } from "./Connection.ts"
import { type ConnectionLimits, Connections } from "./Connections.ts"
import { EgressAllow, EgressRefused, makeConnect, Resolver } from "./Egress.ts"
import { parseCidrs } from "./EgressRules.ts"
import { Exchange } from "./Exchange.ts"
import { judgeAnswer } from "./judgeAnswer.ts"
import { OwnEcho } from "./OwnEcho.ts"

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
  /** The first 10,000 bytes. */
  readonly response_body: string | null
  readonly error: string | null
  /** Only on a retryable outcome. */
  readonly retry_after_seconds: number | null
  readonly outcome: "success" | "retryable" | "failed"
  readonly duration_ms: number
}

export const ConnectionsLimits = Context.Reference<ConnectionLimits>(
  "@scheduling/calls/ConnectionsLimits",
  { defaultValue: () => ({ perOrigin: 512, idle: 4_096 }) }
)

/** The outgoing HTTP call that the service makes for its users. Every outcome is a value. */
export class Call extends Context.Service<
  Call,
  {
    readonly run: (request: CallRequest) => Effect.Effect<CallResult>
  }
>()("@scheduling/calls/Call") {
  static readonly layer: Layer.Layer<Call> = Layer.effect(
    Call,
    Effect.gen(function* () {
      const allow = yield* EgressAllow
      const resolve = yield* Resolver
      const limits = yield* ConnectionsLimits
      const connections = new Connections(makeConnect({ allow, resolve }), limits)
      yield* Effect.addFinalizer(() => connections.closeIdle)
      const ownEcho = yield* OwnEcho
      // These are kept apart: on a shared connection, a call to any other path would get through
      // too.
      const toOwnEcho = new Connections(makeConnect({ allow: ownAddress, resolve }), limits)
      yield* Effect.addFinalizer(() => toOwnEcho.closeIdle)

      return Call.of({
        run: (request) =>
          Effect.clockWith((clock) => {
            const started = clock.monotonicTimeNanosUnsafe()
            const ended = (answer: Answer): CallResult => {
              const nanos = clock.monotonicTimeNanosUnsafe() - started
              return { ...answer, duration_ms: Math.round(Number(nanos) / 1e6) }
            }
            const outgoing = prepare(request, clock)
            if (Result.isFailure(outgoing)) return Effect.succeed(ended(refused(outgoing.failure)))
            const exchange = new Exchange()
            const { success = null, timeout_seconds } = request
            const { origin, path } = outgoing.success
            const way = origin + path === ownEcho ? toOwnEcho : connections
            return Effect.map(
              way.run(outgoing.success, exchange, timeout_seconds * 1_000),
              (timedOut) => {
                const timeout = timedOut
                  ? `timeout after ${timeout_seconds} s while ${exchange.phase}`
                  : null
                return ended(judge(exchange, timeout, success, clock.currentTimeMillisUnsafe()))
              }
            )
          })
      })
    })
  )
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

/** The domain's `sign` without promises, which cost more than the signature itself. */
export const signSync = (
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
  secrets: ReadonlyArray<Redacted.Redacted>
): Option.Option<string> => {
  const prefix = signedPrefix(message)
  const signatures = secrets.map((secret) =>
    Option.map(keyOf(secret), (key) => {
      const mac = createHmac("sha256", key).update(prefix).update(message.body)
      return `v1,${mac.digest("base64")}`
    })
  )
  return Option.map(Option.all(signatures), (parts) => parts.join(" "))
}

/** Keys are cached, because making one takes several times as long as signing with it. */
const keyOf = (secret: Redacted.Redacted): Option.Option<KeyObject> => {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const bytes = parseSecret(Redacted.value(secret))
  const key = bytes === undefined ? Option.none() : Option.some(createSecretKey(bytes))
  keys.set(secret, key)
  return key
}

const keys = new WeakMap<Redacted.Redacted, Option.Option<KeyObject>>()

type Answer = Omit<CallResult, "duration_ms">

const refused = (error: string): Answer => ({
  status_code: null,
  response_body: null,
  error,
  retry_after_seconds: null,
  outcome: "failed"
})

/** A call without a complete answer may be tried again. A complete one is judged. */
const judge = (
  exchange: Exchange,
  timeout: string | null,
  success: SuccessRule | null,
  nowMillis: number
): Answer => {
  if (exchange.complete) return answered(exchange, success, nowMillis)
  if (timeout === null && exchange.error instanceof EgressRefused) {
    return refused(exchange.error.message)
  }
  return {
    status_code: exchange.statusCode,
    response_body: exchange.body,
    error: timeout ?? (exchange.error === null ? null : describeError(exchange.error)),
    retry_after_seconds: parseRetryAfter(exchange.retryAfter, nowMillis),
    outcome: "retryable"
  }
}

const answered = (
  { body, retryAfter, statusCode }: Exchange,
  success: SuccessRule | null,
  nowMillis: number
): Answer => {
  const status = statusCode ?? 0
  const { error, outcome } = judgeAnswer(status, body, success)
  return {
    status_code: status,
    response_body: body,
    error,
    retry_after_seconds: outcome === "retryable" ? parseRetryAfter(retryAfter, nowMillis) : null,
    outcome
  }
}

const maxRetryAfterSeconds = 3_600

/** RFC 9110 allows seconds or one of three forms of an HTTP date, all of them in GMT. */
export const parseRetryAfter = (value: string | null, nowMillis: number): number | null => {
  if (value === null) return null
  const text = value.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text), maxRetryAfterSeconds)
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null
  const date = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`)
  if (Number.isNaN(date)) return null
  const seconds = Math.ceil((date - nowMillis) / 1_000)
  return Math.min(Math.max(seconds, 0), maxRetryAfterSeconds)
}
