import {
  defaultToleranceSeconds,
  findProblem,
  header,
  messageIdPrefix,
  parseSecret,
  type Problem,
  signature,
  signedContent
} from "@scheduling/domain/webhooks/StandardWebhooks"
import { now } from "./transport/clock.ts"
import { SchedulingError } from "./errors.ts"
import type { ExecutionId } from "./generated/shared.ts"

/**
 * The body as it arrived. Parsed and serialized again it may differ, and then no signature matches.
 * For requests without a body, frameworks leave undefined or `{}`, which count as the empty body.
 */
export type Payload = string | Uint8Array | ArrayBuffer | undefined

/** `Headers`, node's `IncomingHttpHeaders`, or any record of header names in any case. */
export type WebhookHeaders =
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** A verified request of the service. */
export interface WebhookEvent {
  /** The `webhook-id`, the same for every attempt. Remember it to do the work only once. */
  readonly id: string
  /**
   * The execution that a call belongs to, or that a callback or another message is about. Null if a
   * message is about no execution, or about several events.
   */
  readonly executionId: ExecutionId | null
  /** When this attempt was sent. */
  readonly sentAt: Date
}

export interface VerifyOptions {
  /** How many seconds old, or ahead of time, a message may be, more than 0. 300 when absent. */
  readonly tolerance?: number | undefined
  /** For tests of your own. */
  readonly now?: Date | undefined
}

export type WebhookProblem = Problem | "missing_header" | "parsed_payload"

const explanations: Readonly<Record<WebhookProblem, string>> = {
  missing_header: `one of ${Object.values(header).join(", ")} is missing`,
  parsed_payload:
    "the payload is not the raw body; give a string or bytes (with Express, express.raw({ type: () => true }) before any parser)",
  malformed_secret: "a secret is not set, or not whsec_ and 24 to 64 bytes in base64",
  malformed_timestamp: "the timestamp is not a number",
  timestamp_too_old: "the message is too old",
  timestamp_too_new: "the message is from the future",
  no_matching_signature: "no signature was made with a secret of yours"
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
 * Throws a `WebhookVerificationError` unless the service sent this recently to the origin whose
 * secret this is. Give the `call_secret` where tasks call, and the `message_secret` where callbacks
 * and messages of webhook channels arrive: then neither passes for the other. While a secret is
 * rotated, give both or only the new one: the service signs with both. An undefined secret, such as
 * a variable that is not set, verifies nothing.
 *
 * @example
 * const { id, executionId } = await verify(await request.text(), request.headers, secret)
 */
export const verify = async (
  payload: Payload,
  headers: WebhookHeaders,
  secrets: string | ReadonlyArray<string> | undefined,
  options: VerifyOptions = {}
): Promise<WebhookEvent> => {
  const { tolerance = defaultToleranceSeconds } = options
  if (!(tolerance > 0)) throw new SchedulingError("tolerance must be a number of seconds above 0")
  const list = asSecrets(secrets)
  const received = {
    id: read(headers, header.id),
    timestamp: read(headers, header.timestamp),
    signature: read(headers, header.signature),
    body: asBody(payload)
  }
  const problem = await findProblem(received, list, {
    nowSeconds: Math.floor((options.now?.getTime() ?? now()) / 1000),
    toleranceSeconds: tolerance
  })
  // A missing body is also what a parser leaves after it consumed or skipped the body.
  const isParsed = problem === "no_matching_signature" && isAbsent(payload)
  if (isParsed) throw new WebhookVerificationError("parsed_payload")
  if (problem !== undefined) throw new WebhookVerificationError(problem)
  const { id } = received
  return {
    id,
    executionId: id.startsWith(messageIdPrefix) ? executionOf(received.body) : id,
    sentAt: new Date(Number(received.timestamp) * 1000)
  }
}

/** The execution that a message is about. The id of a message is signed, so this is its body. */
const executionOf = (body: string | Uint8Array): ExecutionId | null => {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body)
  try {
    const { events, events_count } = JSON.parse(text) as {
      readonly events?: ReadonlyArray<{ readonly execution_id?: ExecutionId | null }>
      readonly events_count?: number
    }
    return (events_count === 1 && events?.[0]?.execution_id) || null
  } catch {
    return null
  }
}

/** Makes the headers that the service would send with a payload, for tests of your own handler. */
export const testHeaders = async (message: {
  readonly payload: Payload
  readonly secret: string
  readonly executionId?: string | undefined
  /** The `id` in the body of a callback or another message. Makes the headers of that message. */
  readonly messageId?: string | undefined
  readonly sentAt?: Date | undefined
}): Promise<Record<string, string>> => {
  const key = parseSecret(message.secret)
  if (key === undefined) throw new WebhookVerificationError("malformed_secret")
  const id =
    message.messageId === undefined
      ? (message.executionId ?? "01900000-0000-7000-8000-000000000000")
      : messageIdPrefix + message.messageId
  const timestamp = Math.floor((message.sentAt?.getTime() ?? now()) / 1000)
  const content = signedContent({ id, timestamp, body: asBody(message.payload) })
  return {
    [header.id]: id,
    [header.timestamp]: String(timestamp),
    [header.signature]: await signature(content, key)
  }
}

const read = (headers: WebhookHeaders, name: string): string => {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const [only, second] = [value].flat()
  // Two values are a trick: the service sends one.
  if (typeof only === "string" && only !== "" && second === undefined) return only
  throw new WebhookVerificationError("missing_header")
}

const isHeaders = (
  headers: WebhookHeaders
): headers is Extract<WebhookHeaders, { readonly get: unknown }> =>
  "get" in headers && typeof headers.get === "function"

/** JavaScript programs may pass what their framework parsed. */
const asBody = (payload: unknown): string | Uint8Array => {
  if (isAbsent(payload)) return ""
  if (typeof payload === "string" || payload instanceof Uint8Array) return payload
  if (payload instanceof ArrayBuffer) return new Uint8Array(payload)
  throw new WebhookVerificationError("parsed_payload")
}

/**
 * What the body parsers of Express 5 and Express 4 leave if there is no body. It is taken as an
 * empty body, which still needs a signature. Nothing else without fields is accepted: not a stream,
 * a Map or a Blob.
 */
const isAbsent = (payload: unknown): boolean => {
  if (payload === undefined || payload === null) return true
  if (typeof payload !== "object" || Reflect.ownKeys(payload).length > 0) return false
  const prototype: unknown = Object.getPrototypeOf(payload)
  return prototype === Object.prototype || prototype === null
}

/** An unset environment variable must not be taken for "no secret to check". */
const asSecrets = (secrets: unknown): ReadonlyArray<string> => {
  const list = [secrets].flat()
  const texts = list.filter((one) => typeof one === "string")
  if (texts.length > 0 && texts.length === list.length) return texts
  throw new WebhookVerificationError("malformed_secret")
}
