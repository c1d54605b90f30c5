import {
  defaultToleranceSeconds,
  findVerificationProblem,
  webhookHeaderNames,
  messageIdPrefix,
  parseSigningSecret,
  type VerificationProblem,
  computeSignature,
  signedContent
} from "@scheduling/domain/webhooks/StandardWebhooks"
import { now } from "./transport/clock.ts"
import { SchedulingError } from "./errors.ts"
import type { ExecutionId, WebhookEvent } from "./generated/shared.ts"

export type { WebhookEvent } from "./generated/shared.ts"

/**
 * The raw request body. A body that was parsed and serialized again can differ, so that no
 * signature matches. For requests without a body, frameworks pass undefined or `{}`, which count as
 * the empty body.
 */
export type Payload = string | Uint8Array | ArrayBuffer | undefined

/** `Headers`, Node's `IncomingHttpHeaders`, or any record of header names in any letter case. */
export type WebhookHeaders =
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The data in the headers of a verified request. */
export interface VerifiedRequest {
  /**
   * The `webhook-id`, which is the same for every attempt. Use it to make your handler idempotent.
   */
  readonly id: string
  /** The execution that made the call. Null for an event, which has the execution in its `data`. */
  readonly executionId: ExecutionId | null
  /** When this attempt was sent. */
  readonly sentAt: Date
}

export interface VerifyOptions {
  /** The maximum clock difference of a message in seconds, more than 0. Defaults to 300. */
  readonly tolerance?: number | undefined
  /** The current time, for your own tests. */
  readonly now?: Date | undefined
}

export type WebhookProblem =
  | VerificationProblem
  | "missing_header"
  | "parsed_payload"
  | "not_an_event"

const explanations: Readonly<Record<WebhookProblem, string>> = {
  missing_header: `one of ${Object.values(webhookHeaderNames).join(", ")} is missing`,
  parsed_payload:
    "the payload is not the raw body; pass a string or bytes (with Express, express.raw({ type: () => true }) before any parser)",
  malformed_secret: "a secret is not set, or is not whsec_ followed by 24 to 64 bytes in base64",
  malformed_timestamp: "the timestamp is not a number",
  timestamp_too_old: "the message is too old",
  timestamp_too_new: "the message is from the future",
  no_matching_signature: "no signature matches one of your secrets",
  not_an_event: "the request is the call of a task; use verify instead of unwrap"
}

export class WebhookVerificationError extends SchedulingError {
  override readonly name: string = "WebhookVerificationError"
  readonly reason: WebhookProblem

  constructor(reason: WebhookProblem) {
    super(`The webhook cannot be trusted: ${explanations[reason]}`)
    this.reason = reason
  }
}

/**
 * Verifies a callback or a webhook channel's message, and returns its event. Compare `type` to
 * narrow the type of `data`. Pass the `message_secret` of the URL's origin.
 *
 * @example const event = await unwrap(await request.text(), request.headers, secret) if (event.type
 * === "execution.failed") console.log(event.data.execution.error?.message)
 */
export const unwrap = async (
  payload: Payload,
  headers: WebhookHeaders,
  secrets: string | ReadonlyArray<string> | undefined,
  options: VerifyOptions = {}
): Promise<WebhookEvent> => {
  const { executionId } = await verify(payload, headers, secrets, options)
  if (executionId !== null) throw new WebhookVerificationError("not_an_event")
  const body = toBytesOrText(payload)
  return JSON.parse(
    typeof body === "string" ? body : new TextDecoder().decode(body)
  ) as WebhookEvent
}

/**
 * Throws a `WebhookVerificationError` unless the service sent the request recently to the origin
 * that the secret belongs to. Pass the `call_secret` for calls of tasks. Callbacks and webhook
 * channels' messages are signed with the `message_secret`, so neither can be mistaken for the
 * other. Use `unwrap` for them. During a rotation, pass both secrets or only the new one: the
 * service signs with both. An undefined secret, such as an unset variable, always fails.
 *
 * @example const { executionId } = await verify(await request.text(), request.headers, secret)
 */
export const verify = async (
  payload: Payload,
  headers: WebhookHeaders,
  secrets: string | ReadonlyArray<string> | undefined,
  options: VerifyOptions = {}
): Promise<VerifiedRequest> => {
  const { tolerance = defaultToleranceSeconds } = options
  if (!(tolerance > 0)) throw new SchedulingError("tolerance must be a number of seconds above 0")
  const list = toSecretList(secrets)
  const received = {
    id: read(headers, webhookHeaderNames.id),
    timestamp: read(headers, webhookHeaderNames.timestamp),
    signature: read(headers, webhookHeaderNames.signature),
    body: toBytesOrText(payload)
  }
  const problem = await findVerificationProblem(received, list, {
    nowSeconds: Math.floor((options.now?.getTime() ?? now()) / 1000),
    toleranceSeconds: tolerance
  })
  // The body is also missing if a parser has already consumed or skipped it.
  const isParsed = problem === "no_matching_signature" && isEmptyBody(payload)
  if (isParsed) throw new WebhookVerificationError("parsed_payload")
  if (problem !== undefined) throw new WebhookVerificationError(problem)
  const { id } = received
  return {
    id,
    executionId: id.startsWith(messageIdPrefix) ? null : id,
    sentAt: new Date(Number(received.timestamp) * 1000)
  }
}

/** Creates the headers that the service would send with a payload, for tests of your handler. */
export const testHeaders = async (message: {
  readonly payload: Payload
  readonly secret: string
  readonly executionId?: string | undefined
  /** An event's `id`. If given, the headers are for an event instead of a call. */
  readonly eventId?: string | undefined
  readonly sentAt?: Date | undefined
}): Promise<Record<string, string>> => {
  const key = parseSigningSecret(message.secret)
  if (key === undefined) throw new WebhookVerificationError("malformed_secret")
  const id =
    message.eventId === undefined
      ? (message.executionId ?? "01900000-0000-7000-8000-000000000000")
      : messageIdPrefix + message.eventId
  const timestamp = Math.floor((message.sentAt?.getTime() ?? now()) / 1000)
  const content = signedContent({ id, timestamp, body: toBytesOrText(message.payload) })
  return {
    [webhookHeaderNames.id]: id,
    [webhookHeaderNames.timestamp]: String(timestamp),
    [webhookHeaderNames.signature]: await computeSignature(content, key)
  }
}

const read = (headers: WebhookHeaders, name: string): string => {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const [only, second] = [value].flat()
  // Duplicate values are an attack: the service sends one.
  if (typeof only === "string" && only !== "" && second === undefined) return only
  throw new WebhookVerificationError("missing_header")
}

const isHeaders = (
  headers: WebhookHeaders
): headers is Extract<WebhookHeaders, { readonly get: unknown }> =>
  "get" in headers && typeof headers.get === "function"

/**
 * Returns the payload as text or bytes. Throws if the payload is a body that a framework has
 * parsed, which JavaScript programs may pass.
 */
const toBytesOrText = (payload: unknown): string | Uint8Array => {
  if (isEmptyBody(payload)) return ""
  if (typeof payload === "string" || payload instanceof Uint8Array) return payload
  if (payload instanceof ArrayBuffer) return new Uint8Array(payload)
  throw new WebhookVerificationError("parsed_payload")
}

/**
 * Returns true for the values that the body parsers in Express 5 and Express 4 set if there is no
 * body. They count as an empty body, which still needs a signature. Other objects without fields,
 * such as a stream, a Map or a Blob, are not accepted.
 */
const isEmptyBody = (payload: unknown): boolean => {
  if (payload === undefined || payload === null) return true
  if (typeof payload !== "object" || Reflect.ownKeys(payload).length > 0) return false
  const prototype: unknown = Object.getPrototypeOf(payload)
  return prototype === Object.prototype || prototype === null
}

/**
 * Returns the secrets as a list. Fails without a secret, because an unset environment variable must
 * not disable verification.
 */
const toSecretList = (secrets: unknown): ReadonlyArray<string> => {
  const list = [secrets].flat()
  const texts = list.filter((one) => typeof one === "string")
  if (texts.length > 0 && texts.length === list.length) return texts
  throw new WebhookVerificationError("malformed_secret")
}
