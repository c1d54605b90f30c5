import { Call } from "@scheduling/calls/Call"
import type { CallResult } from "@scheduling/calls/CallResult"
import type { Signing } from "@scheduling/calls/signing"
import { Cause, Clock, Context, DateTime, Effect, Layer } from "effect"
import { AppConfig, briefly, cut, Secrets } from "../../core/index.ts"
import { cannotSign, SigningSecrets } from "../../engine/index.ts"
import type { ChannelRow } from "../channels/ChannelsRepo.ts"
import { openConfig, redact } from "../channels/ChannelSecrets.ts"
import type { MailLink, Outgoing, Transports, ChannelResult } from "../Kind.ts"
import { kinds } from "../kinds.ts"
import { linkTo } from "../channels/links.ts"
import { Mailer } from "../../mail/index.ts"
import { confirmationMail } from "../confirmationMail.ts"
import type { Message } from "../Message.ts"

export interface Transmission {
  /** Of the delivery. */
  readonly id: string
  readonly channel: Pick<ChannelRow, "id" | "workspace_id" | "kind" | "config" | "sealed_secrets">
  readonly message: Message | "confirmation"
  readonly attempt: number
  /** In all, waiting for our own connections included. */
  readonly timeout_seconds: number
}

/** Hands one message to a provider. Every outcome is a value, and no secret of the channel is in it. */
export class Transmitter extends Context.Service<
  Transmitter,
  {
    readonly send: (
      transmission: Transmission
    ) => Effect.Effect<ChannelResult & { readonly duration_ms: number }>
  }
>()("@scheduling/server/notifications/sending/Transmitter") {
  static readonly layer: Layer.Layer<
    Transmitter,
    never,
    AppConfig | Call | Mailer | Secrets | SigningSecrets
  > = Layer.effect(
    Transmitter,
    Effect.gen(function* () {
      const { publicUrl = "" } = yield* AppConfig
      const call = yield* Call
      const mailer = yield* Mailer
      const secretsOfService = yield* Secrets
      const signingSecrets = yield* SigningSecrets
      const ring = secretsOfService.keys("notification-channel")
      const linkRing = secretsOfService.keys("notification-link")

      const httpOf =
        (transmission: Transmission, signing?: Signing) =>
        ({ body, headers = {}, method, url }: Outgoing) =>
          call.run({
            workspace_id: transmission.channel.workspace_id,
            execution_id: transmission.id,
            attempt: transmission.attempt,
            task: null,
            method,
            url,
            headers,
            body:
              body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
            timeout_seconds: transmission.timeout_seconds,
            signing
          })

      const transmit = Effect.fnUntraced(function* (transmission: Transmission) {
        const { channel, id, message } = transmission
        const kind = kinds[channel.kind]
        const opened = openConfig(ring, channel.id, kind, channel)
        if (opened === undefined) return unanswered(lostSecrets)
        const { config, secrets } = opened
        // Before it is judged and shortened, which may leave half of a secret.
        const redacted = (result: CallResult): CallResult => ({
          ...result,
          response_body: redact(result.response_body, secrets)
        })
        const now = yield* DateTime.nowAsDate
        const transports: Transports = {
          http: (request) => Effect.map(httpOf(transmission)(request), redacted),
          signedHttp: (request) =>
            Effect.flatMap(signingSecrets.findLive([channel.workspace_id]), (live) => {
              const own = live.get(channel.workspace_id)
              return own === undefined
                ? Effect.succeed(unsigned)
                : Effect.map(
                    httpOf(transmission, { purpose: "message", secrets: own })(request),
                    redacted
                  )
            }),
          mail: mailer.send,
          link: (what: MailLink) => linkTo(linkRing, publicUrl, what, channel, now)
        }
        const verdict =
          message === "confirmation"
            ? yield* mailer.send(
                confirmationMail(id, String(config["to"]), publicUrl, transports.link("confirm"))
              )
            : yield* kind.send(config, message, transports)
        // Once more: what was escaped in an answer is plain in what was read out of it.
        return {
          ...verdict,
          response: redact(verdict.response, secrets),
          error: redact(verdict.error, secrets)
        }
      })

      return Transmitter.of({
        send: Effect.fn("Transmitter.send")(function* (transmission) {
          const clock = yield* Clock.Clock
          const started = clock.monotonicTimeNanosUnsafe()
          const verdict = yield* Effect.suspend(() => transmit(transmission)).pipe(
            Effect.timeoutOrElse({
              duration: transmission.timeout_seconds * 1_000,
              orElse: () =>
                Effect.succeed(unanswered(`timeout after ${transmission.timeout_seconds} s`))
            }),
            Effect.catchDefect((defect) =>
              Effect.as(
                Effect.logError(`delivery ${transmission.id} broke: ${describe(defect)}`),
                unanswered("internal error")
              )
            )
          )
          const nanos = clock.monotonicTimeNanosUnsafe() - started
          return {
            ...verdict,
            response: verdict.response === null ? null : cut(storable(verdict.response), 1_000),
            error: verdict.error === null ? null : cut(storable(verdict.error), 500),
            duration_ms: Math.round(Number(nanos) / 1e6)
          }
        })
      })
    })
  )
}

const describe = (defect: unknown) => briefly(Cause.die(defect))

const unanswered = (error: string): ChannelResult => ({
  outcome: "again",
  status_code: null,
  response: null,
  error,
  after_seconds: null,
  gone: false
})

const lostSecrets = "the secrets of the channel can no longer be opened: enter them again"

/** Tried again, because the workspace can have a new secret before the message is given up. */
const unsigned: CallResult = {
  status_code: null,
  response_body: null,
  error: cannotSign,
  retry_after_seconds: null,
  outcome: "retryable",
  completes_later: false,
  duration_ms: 0
}

/** PostgreSQL holds neither NUL nor half a surrogate pair. */
const storable = (text: string) => text.replaceAll("\0", "\ufffd").toWellFormed()
