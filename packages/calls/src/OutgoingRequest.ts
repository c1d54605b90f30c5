import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { headersProblems } from "@scheduling/domain/calls/CallHeaders"
import { parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { webhookHeaderNames } from "@scheduling/domain/webhooks/StandardWebhooks"
import { type Clock, Data, Option, Result } from "effect"
import packageJson from "../package.json" with { type: "json" }
import type { CallRequest, SignatureHeaders } from "./CallRequest.ts"
import { receiverKeys, signWithKeys, webhookId } from "./signing.ts"

/** The error of an exchange whose request was not written, because `maySend` returned false. */
export class RequestNotSent extends Data.TaggedError("RequestNotSent")<{}> {}

/** A request that is ready to be sent over a connection. */
export interface OutgoingRequest {
  readonly origin: string
  readonly method: string
  /**
   * Returns the request line and the header fields. Their signature contains the time of sending.
   */
  readonly head: () => string
  readonly body: string
  readonly bodyBytes: number
  /** Returns whether the request may still be written. If absent, it may always be written. */
  readonly maySend?: (() => boolean) | undefined
  /** The workspace of the call. Workspaces take turns if calls wait for a connection. */
  readonly workspace_id: string
}

interface SignableRequest {
  readonly outgoing: OutgoingRequest
  readonly path: string
  /** Builds the request head ahead of time, signed for the given time. */
  readonly signFor: (atMillis: number) => void
}

/** Builds the signed request. Fails with the reason if the call cannot be made. */
export const makeRequest = (
  request: CallRequest,
  clock: Clock.Clock
): Result.Result<SignableRequest, ExecutionError> => {
  const parsed = parseCallUrl(request.url)
  if (Result.isFailure(parsed)) return Result.fail(invalid(`url ${parsed.failure}`))
  // Headers were validated when the task was created, but references may insert responses of
  // earlier steps.
  const problem = headersProblems(request.headers)[0]
  if (problem !== undefined) {
    return Result.fail(invalid(["header", ...problem.path, problem.problem].join(" ")))
  }
  const { method, workspace_id } = request
  const body = method === "GET" || method === "HEAD" ? null : request.body
  const { origin, pathname, search } = parsed.success
  const sign = signer(request, body ?? "", origin)
  if (Result.isFailure(sign)) return Result.fail(sign.failure)
  const path = pathname + search
  const bodyBytes = Buffer.byteLength(body ?? "")
  const headAt = (second: number) => {
    const fields = [...sign.success(second), ...fieldsOf(request, body)]
    if (body !== null || methodsWithLength.has(method))
      fields.push("content-length", String(bodyBytes))
    return headOf(`${method} ${path}`, hostOf(origin), fields)
  }
  let ahead: { readonly second: number; readonly head: string } | undefined
  const headNow = () => {
    const second = secondOf(clock.currentTimeMillisUnsafe())
    const built = ahead
    // Drops the prebuilt request head: keeping it alive for the whole call costs more in garbage
    // collection than building it again.
    ahead = undefined
    return built?.second === second ? built.head : headAt(second)
  }
  return Result.succeed({
    outgoing: {
      origin,
      method,
      head: headNow,
      body: body ?? "",
      bodyBytes,
      maySend: request.maySend,
      workspace_id
    },
    path,
    signFor: (atMillis) => {
      const second = secondOf(atMillis)
      ahead = { second, head: headAt(second) }
    }
  })
}

const invalid = (message: string) => executionError("invalid_template", message)

const secondOf = (millis: number): number => Math.floor(millis / 1_000)

/**
 * The methods that always get a `content-length`, because servers may reject them without one, even
 * if there is no body.
 */
const methodsWithLength = new Set(["POST", "PUT", "PATCH"])

/** Slices the string, which is faster than the getters of a URL. */
const hostOf = (origin: string): string => origin.slice(origin.indexOf("//") + 2)

const headOf = (target: string, host: string, fields: ReadonlyArray<string>): string => {
  let head = `${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  for (let index = 0; index < fields.length; index += 2) {
    head += `${fields[index]}: ${fields[index + 1]}\r\n`
  }
  return `${head}\r\n`
}

const userAgent = `scheduling-service/${packageJson.version}`

/** Returns a function that builds the signature's header fields for a timestamp. */
const signer = (
  { execution_id, signature, signing }: CallRequest,
  body: string,
  origin: string
): Result.Result<(timestamp: number) => ReadonlyArray<string>, ExecutionError> => {
  if (signature !== undefined) return Result.succeed(() => signatureHeaders(signature))
  if (signing === undefined) return Result.succeed(() => [])
  const keys = receiverKeys(signing, origin)
  if (Option.isNone(keys))
    return Result.fail(executionError("internal", "the workspace's signing secret is not valid"))
  const id = webhookId(execution_id, signing.purpose)
  return Result.succeed((timestamp) =>
    signatureHeaders({
      id,
      timestamp,
      signature: signWithKeys({ id, timestamp, body }, keys.value)
    })
  )
}

/** Returns the request headers, without those of the signature and of HTTP itself. */
export const unsignedHeaders = (
  request: Pick<CallRequest, "attempt" | "body" | "execution_id" | "headers" | "task">
): Readonly<Record<string, string>> => {
  const fields = fieldsOf(request, request.body)
  return Object.fromEntries(
    fields.flatMap((name, index) =>
      index % 2 === 0 ? [[name.toLowerCase(), fields[index + 1] ?? ""]] : []
    )
  )
}

/** Returns the header fields of the request as alternating names and values. */
const fieldsOf = (
  request: Pick<
    CallRequest,
    "attempt" | "complete_url" | "execution_id" | "headers" | "task" | "traceparent"
  >,
  body: string | null
) => {
  const headers = ["idempotency-key", request.execution_id]
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
  // Asks for an uncompressed response, because users read the stored part of it and the service
  // does not decompress it.
  if (!given.has("accept-encoding")) headers.push("accept-encoding", "identity")
  if (body !== null && !given.has("content-type")) headers.push("content-type", "application/json")
  return headers
}

const signatureHeaders = ({ id, signature, timestamp }: SignatureHeaders) => [
  webhookHeaderNames.id,
  id,
  webhookHeaderNames.timestamp,
  String(timestamp),
  webhookHeaderNames.signature,
  signature
]
