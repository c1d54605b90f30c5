import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import type { CallResult } from "@scheduling/calls/CallResult"
import { maxRetryAfterSeconds } from "@scheduling/calls/parseRetryAfter"
import { Effect, type Schema } from "effect"
import type { Mail, SendResult } from "../../mail/index.ts"
import type { Message } from "./Message.ts"
import { truncate, toOneLine } from "../../core/index.ts"

/** The result of one attempt to send a message through a channel. */
export interface ChannelResult extends SendResult {
  /**
   * Fields of the channel's configuration that the provider has changed, such as the id of a group.
   */
  readonly changes?: Readonly<Record<string, string>>
}

export interface OutgoingRequest {
  readonly method: CallMethod
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What the recipient of an email can do with a link in it. */
export type MailLinkPurpose = "confirm" | "unsubscribe"

/** The functions with which a kind can send a message. */
export interface Transports {
  readonly http: (request: OutgoingRequest) => Effect.Effect<CallResult>
  /** Sends an HTTP request that is signed with the workspace's signing secrets. */
  readonly signedHttp: (request: OutgoingRequest) => Effect.Effect<CallResult>
  readonly mail: (mail: Mail) => Effect.Effect<SendResult>
  /** Returns the link in an email with which the recipient confirms or unsubscribes the address. */
  readonly link: (what: MailLinkPurpose) => string
}

/** The fields of a configuration by name. */
export type ConfigFields = Readonly<Record<string, unknown>>

/** A kind of channel. Each kind has its own file. */
export interface ChannelKind {
  readonly kind: DeliveryKind
  readonly title: string
  readonly config: Schema.Codec<ChannelConfig, unknown>
  readonly secrets: ReadonlyArray<string>
  /**
   * The fields that determine where secrets are sent. If one of them changes, the secrets must be
   * entered again.
   */
  readonly target: ReadonlyArray<string>
  /**
   * True if the provider itself opens and closes incidents, so that each problem needs its own
   * message.
   */
  readonly keepsIncidents: boolean
  /** The minimum time that the provider requires between two messages. */
  readonly spacingMs: number
  readonly send: (
    config: ChannelConfig,
    message: Message,
    transports: Transports
  ) => Effect.Effect<ChannelResult>
}

// oxlint-disable-next-line typescript/no-explicit-any -- each kind has decoded its own configuration
export type ChannelConfig = any

/** Creates a kind that sends one HTTP request, with rules that interpret the response. */
export const httpChannelKind = <C extends object>(
  kind: Omit<ChannelKind, "config" | "send" | "keepsIncidents" | "spacingMs" | "target"> & {
    readonly config: Schema.Codec<C, unknown>
    readonly target?: ReadonlyArray<string>
    readonly keepsIncidents?: boolean
    readonly spacingMs?: number
    readonly request: (config: C, message: Message) => OutgoingRequest
    readonly rules?: ResponseRules
  }
): ChannelKind => ({
  target: [],
  keepsIncidents: false,
  spacingMs: 0,
  ...kind,
  send: (config, message, { http }) =>
    Effect.map(http(kind.request(config, message)), (result) =>
      classifyProviderResponse(result, kind.rules)
    )
})

/** How the responses of a provider differ from the usual meaning of their status. */
export interface ResponseRules {
  /**
   * Returns true if the response says that the channel's address or credential is permanently
   * invalid.
   */
  readonly isGone?: (answer: ProviderResponse) => boolean
  /** Returns true for a response to retry, in addition to network errors, 408, 425, 429 and 5xx. */
  readonly isRetryable?: (answer: ProviderResponse) => boolean
  /** Returns true for a 2xx response that says the message was rejected. */
  readonly isRejected?: (answer: ProviderResponse) => boolean
  readonly afterSeconds?: (answer: ProviderResponse) => number | null
}

export interface ProviderResponse {
  readonly status: number
  readonly text: string
  /** The body as JSON, or an empty object if the body is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>>
}

export const readProviderResponse = ({
  response_body,
  status_code
}: CallResult): ProviderResponse => {
  const text = response_body ?? ""
  return { status: status_code ?? 0, text, json: jsonOf(text) }
}

/**
 * Classifies a response. By default 2xx means delivered; network errors, 408, 425, 429 and 5xx are
 * retried; any other response is final.
 */
export const classifyProviderResponse = (
  result: CallResult,
  rules: ResponseRules = {}
): ChannelResult => {
  const answer = readProviderResponse(result)
  const base = {
    status_code: result.status_code,
    response: result.response_body,
    after_seconds: null,
    gone: false
  }
  if (result.outcome === "success" && rules.isRejected?.(answer) !== true) {
    return { ...base, outcome: "delivered", error: null }
  }
  const error = reasonOf(result, answer)
  const gone = result.status_code !== null && rules.isGone?.(answer) === true
  if (!gone && (result.outcome === "retryable" || rules.isRetryable?.(answer) === true)) {
    const asked = rules.afterSeconds?.(answer) ?? result.retry_after_seconds
    const after_seconds = asked === null ? null : Math.min(Math.max(asked, 0), maxRetryAfterSeconds)
    return { ...base, outcome: "again", error, after_seconds }
  }
  return { ...base, outcome: "never", error, gone }
}

/**
 * Creates a rule: a response with one of these statuses means that the channel's address or
 * credential is permanently invalid.
 */
export const hasStatus =
  (...statuses: ReadonlyArray<number>) =>
  ({ status }: ProviderResponse): boolean =>
    statuses.includes(status)

const jsonOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/**
 * Returns the cause that a provider's response gives: a field with one of these names, or the plain
 * text.
 */
const reasonOf = (result: CallResult, { json, text }: ProviderResponse): string => {
  if (result.error !== null && result.status_code === null) return result.error.message
  const given = ["message", "description", "error", "msg", "errors", "errorDescription"]
    .map((field) => json[field])
    .find((value) => value !== undefined && value !== "")
  const words =
    given === undefined
      ? text.startsWith("<")
        ? ""
        : text
      : typeof given === "string"
        ? given
        : JSON.stringify(given)
  const reason = truncate(toOneLine(words), 300)
  const status = `responded with ${result.status_code}`
  if (reason === "") return result.error?.message ?? status
  return `${status}: ${reason}`
}
