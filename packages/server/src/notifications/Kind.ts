import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import type { NotificationKind } from "@scheduling/domain/notifications/NotificationChannel"
import type { CallResult } from "@scheduling/calls/CallResult"
import { Effect, type Schema } from "effect"
import type { Mail, SendResult } from "../mail/index.ts"
import type { Message } from "./Message.ts"
import { cut, oneLine } from "../core/index.ts"

/** The result of one attempt to send a message over a channel. */
export interface ChannelResult extends SendResult {
  /** Fields of the channel's configuration that the provider has changed. */
  readonly changes?: Readonly<Record<string, string>>
}

export interface Outgoing {
  readonly method: CallMethod
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export type MailLink = "confirm" | "unsubscribe"

/** How messages leave. */
export interface Transports {
  readonly http: (request: Outgoing) => Effect.Effect<CallResult>
  /** The same, signed with the secrets of the workspace. */
  readonly signedHttp: (request: Outgoing) => Effect.Effect<CallResult>
  readonly mail: (mail: Mail) => Effect.Effect<SendResult>
  /** Where the receiver of a mail says something about it. */
  readonly link: (what: MailLink) => string
}

/** One way to reach people: a file each. */
export interface Kind {
  readonly kind: NotificationKind
  readonly title: string
  readonly config: Schema.Codec<Config, unknown>
  readonly secrets: ReadonlyArray<string>
  /** Where secrets are sent: when one of these changes they have to be given anew. */
  readonly target: ReadonlyArray<string>
  /** It opens incidents and closes them, so each trouble is told on its own. */
  readonly keepsIncidents: boolean
  /** The time between two messages that the provider asks for. */
  readonly spacingMs: number
  readonly send: (
    config: Config,
    message: Message,
    transports: Transports
  ) => Effect.Effect<ChannelResult>
}

// oxlint-disable-next-line typescript/no-explicit-any -- each kind knows its own, and has decoded it
export type Config = any

/** Most kinds are one HTTP request, and a rule for what its answer means. */
export const httpKind = <C extends object>(
  kind: Omit<Kind, "config" | "send" | "keepsIncidents" | "spacingMs" | "target"> & {
    readonly config: Schema.Codec<C, unknown>
    readonly target?: ReadonlyArray<string>
    readonly keepsIncidents?: boolean
    readonly spacingMs?: number
    readonly request: (config: C, message: Message) => Outgoing
    readonly rules?: AnswerRules
  }
): Kind => ({
  target: [],
  keepsIncidents: false,
  spacingMs: 0,
  ...kind,
  send: (config, message, { http }) =>
    Effect.map(http(kind.request(config, message)), (result) => judge(result, kind.rules))
})

export interface AnswerRules {
  /** Why the channel takes nothing any more, if that is what the answer says. */
  readonly gone?: (answer: Answer) => boolean
  /** Beside network errors, 408, 425, 429 and 5xx. */
  readonly again?: (answer: Answer) => boolean
  /** An answer of 2xx that is a refusal all the same. */
  readonly refused?: (answer: Answer) => boolean
  readonly afterSeconds?: (answer: Answer) => number | null
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** The body as JSON; an empty object where it is none. */
  readonly json: Readonly<Record<string, unknown>>
}

export const answerOf = ({ response_body, status_code }: CallResult): Answer => {
  const text = response_body ?? ""
  return { status: status_code ?? 0, text, json: jsonOf(text) }
}

/**
 * The default rule: 2xx means delivered; no answer and 5xx are retried; any other answer is final.
 */
export const judge = (result: CallResult, rules: AnswerRules = {}): ChannelResult => {
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
  const error = whyNot(result, answer)
  const gone = result.status_code !== null && rules.gone?.(answer) === true
  if (!gone && (result.outcome === "retryable" || rules.again?.(answer) === true)) {
    const after_seconds = rules.afterSeconds?.(answer) ?? result.retry_after_seconds
    return { ...base, outcome: "again", error, after_seconds }
  }
  return { ...base, outcome: "never", error, gone }
}

/** A status among these: the address of the channel is gone, or its credential is. */
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

/** Providers put their reason under one of these names, or answer with plain text. */
const whyNot = (result: CallResult, { json, text }: Answer): string => {
  if (result.error !== null && result.status_code === null) return result.error.message
  const said = ["message", "description", "error", "msg", "errors", "errorDescription"]
    .map((field) => json[field])
    .find((value) => value !== undefined && value !== "")
  const words =
    said === undefined
      ? text.startsWith("<")
        ? ""
        : text
      : typeof said === "string"
        ? said
        : JSON.stringify(said)
  const reason = cut(oneLine(words), 300)
  const status = `answered ${result.status_code}`
  if (reason === "") return result.error?.message ?? status
  return `${status}: ${reason}`
}
