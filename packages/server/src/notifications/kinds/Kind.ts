import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import type { CallResult } from "@scheduling/calls/CallResult"
import { Effect, type Schema } from "effect"
import type { Mail, SendResult } from "../../mail/index.ts"
import type { Message } from "./Message.ts"
import { truncate, oneLine } from "../../core/index.ts"

/** The result of one attempt to send a message over a channel. */
export interface ChannelResult extends SendResult {
  /** Fields of the channel's configuration that the provider has changed. */
  readonly changes?: Readonly<Record<string, string>>
}

export interface OutgoingRequest {
  readonly method: CallMethod
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export type MailLink = "confirm" | "unsubscribe"

/** The ways in which a kind can send a message. */
export interface Transports {
  readonly http: (request: OutgoingRequest) => Effect.Effect<CallResult>
  /** An HTTP request that is signed with the secrets of the workspace. */
  readonly signedHttp: (request: OutgoingRequest) => Effect.Effect<CallResult>
  readonly mail: (mail: Mail) => Effect.Effect<SendResult>
  /** The link in a mail that confirms or unsubscribes its address. */
  readonly link: (what: MailLink) => string
}

/** The fields of a configuration. */
export type Fields = Readonly<Record<string, unknown>>

/** A kind of channel. Each has a file. */
export interface Kind {
  readonly kind: DeliveryKind
  readonly title: string
  readonly config: Schema.Codec<Config, unknown>
  readonly secrets: ReadonlyArray<string>
  /** The fields that say where secrets are sent. When one of them changes, secrets must be entered again. */
  readonly target: ReadonlyArray<string>
  /** True if the provider opens and closes incidents, so that each problem needs its own message. */
  readonly keepsIncidents: boolean
  /** The time between two messages that the provider asks for. */
  readonly spacingMs: number
  readonly send: (
    config: Config,
    message: Message,
    transports: Transports
  ) => Effect.Effect<ChannelResult>
}

// oxlint-disable-next-line typescript/no-explicit-any -- each kind has decoded its own configuration
export type Config = any

/** A kind that sends one HTTP request, with rules for what the answer means. */
export const httpKind = <C extends object>(
  kind: Omit<Kind, "config" | "send" | "keepsIncidents" | "spacingMs" | "target"> & {
    readonly config: Schema.Codec<C, unknown>
    readonly target?: ReadonlyArray<string>
    readonly keepsIncidents?: boolean
    readonly spacingMs?: number
    readonly request: (config: C, message: Message) => OutgoingRequest
    readonly rules?: AnswerRules
  }
): Kind => ({
  target: [],
  keepsIncidents: false,
  spacingMs: 0,
  ...kind,
  send: (config, message, { http }) =>
    Effect.map(http(kind.request(config, message)), (result) => classify(result, kind.rules))
})

export interface AnswerRules {
  /** The address of the channel or its credential is gone for good. */
  readonly gone?: (answer: Answer) => boolean
  /** Answers that are retried, beside network errors, 408, 425, 429 and 5xx. */
  readonly again?: (answer: Answer) => boolean
  /** A 2xx answer that says the message was refused. */
  readonly refused?: (answer: Answer) => boolean
  readonly afterSeconds?: (answer: Answer) => number | null
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** The body as JSON, or an empty object if the body is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>>
}

export const answerOf = ({ response_body, status_code }: CallResult): Answer => {
  const text = response_body ?? ""
  return { status: status_code ?? 0, text, json: jsonOf(text) }
}

/**
 * The default rule: 2xx means delivered; no answer and 5xx are retried; any other answer is final.
 */
export const classify = (result: CallResult, rules: AnswerRules = {}): ChannelResult => {
  const answer = answerOf(result)
  const base = {
    status_code: result.status_code,
    response: result.response_body,
    after_seconds: null,
    gone: false
  }
  if (result.outcome === "success" && rules.refused?.(answer) !== true) {
    return { ...base, outcome: "delivered", error: null }
  }
  const error = reasonOf(result, answer)
  const gone = result.status_code !== null && rules.gone?.(answer) === true
  if (!gone && (result.outcome === "retryable" || rules.again?.(answer) === true)) {
    const after_seconds = rules.afterSeconds?.(answer) ?? result.retry_after_seconds
    return { ...base, outcome: "again", error, after_seconds }
  }
  return { ...base, outcome: "never", error, gone }
}

/** A rule: with one of these statuses the address of the channel or its credential is gone. */
export const goneAt =
  (...statuses: ReadonlyArray<number>) =>
  ({ status }: Answer): boolean =>
    statuses.includes(status)

// ---------------------------------------------------------------------------

const jsonOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The reason in the answer of a provider: a field with one of these names, or plain text. */
const reasonOf = (result: CallResult, { json, text }: Answer): string => {
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
  const reason = truncate(oneLine(words), 300)
  const status = `answered ${result.status_code}`
  if (reason === "") return result.error?.message ?? status
  return `${status}: ${reason}`
}
