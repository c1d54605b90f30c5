import { Call } from "@scheduling/calls/Call"
import type { CallResult } from "@scheduling/calls/CallResult"
import type { Signing } from "@scheduling/calls/signing"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import { Cause, Clock, Context, DateTime, Effect, Layer, Result } from "effect"
import { AppConfig, truncate, Secrets, shortMessage } from "../../core/index.ts"
import { CallSecrets, cannotSign, SigningSecrets, valuesFor } from "../../engine/index.ts"
import { Mailer } from "../../mail/index.ts"
import { openConfig, redact, type SealedConfig } from "../channels/ChannelSecrets.ts"
import { confirmationMail } from "../channels/confirmationMail.ts"
import { linkTo } from "../channels/mailLinks.ts"
import { acknowledgeLink } from "../links/acknowledgeLinks.ts"
import { secretNamesIn, withSecrets } from "../channels/references.ts"
import type { ChannelResult, MailLink, OutgoingRequest, Transports } from "../kinds/Kind.ts"
import { kinds } from "../kinds/kinds.ts"
import type { Message } from "../kinds/Message.ts"

export interface Transmission {
  readonly delivery_id: string
  readonly workspace_id: AuthorizedWorkspaceId
  /** Null for a callback. */
  readonly channel_id: string | null
  readonly kind: DeliveryKind
  readonly config: SealedConfig
  readonly message: Message | "confirmation"
  readonly attempt: number
  /** The timeout for the whole attempt, including the wait for a free connection. */
  readonly timeout_seconds: number
}

/**
 * Hands a message to a provider. Every outcome is returned as a value that contains no secret of
 * the channel.
 */
export class Transport extends Context.Service<Transport>()(
  "@scheduling/server/notifications/sending/Transport",
  {
    make: Effect.gen(function* () {
      const { publicUrl = "" } = yield* AppConfig
      const calls = yield* Call
      const mailer = yield* Mailer
      const secretsOfService = yield* Secrets
      const signingSecrets = yield* SigningSecrets
      const callSecrets = yield* CallSecrets
      const ring = secretsOfService.keys("notification-channel")
      const linkRing = secretsOfService.keys("notification-link")

      const httpOf =
        (transmission: Transmission, signing?: Signing) =>
        ({ body, headers = {}, method, url }: OutgoingRequest) =>
          calls.run({
            workspace_id: transmission.workspace_id,
            execution_id: transmission.delivery_id,
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

      /** Adds the link that acknowledges the incident, if the message is about one. */
      const withLink = (
        { channel_id, kind }: Transmission,
        message: Message,
        now: Date
      ): Message => {
        const [only] = message.events
        const incidentId = message.count === 1 ? only?.incident_id : undefined
        // Providers that track incidents have a button of their own.
        if (incidentId === undefined || channel_id === null || kinds[kind].keepsIncidents) {
          return message
        }
        if (publicUrl === "") return message
        const link = acknowledgeLink(linkRing, publicUrl, incidentId, channel_id, now)
        return { ...message, facts: [...message.facts, { name: "Acknowledge", value: link }] }
      }

      const transmit = Effect.fnUntraced(function* (transmission: Transmission) {
        const { channel_id, delivery_id, message, workspace_id } = transmission
        const kind = kinds[transmission.kind]
        const sealedFor = channel_id ?? delivery_id
        const opened = openConfig(ring, sealedFor, kind, transmission.config)
        if (opened === undefined) return noResponse(lostSecrets)
        const names = secretNamesIn(opened.config)
        const ofWorkspace = yield* callSecrets.open(workspace_id, names)
        const values = valuesFor(names, ofWorkspace, [])
        if (Result.isFailure(values)) return noResponse(values.failure.message)
        const config = withSecrets(opened.config, values.success)
        const secrets = [...opened.secrets, ...values.success.values()]
        /**
         * Makes a request, unless it contains a workspace secret that may not be sent to its host.
         */
        const call = (request: OutgoingRequest, signing?: Signing) => {
          const allowed = valuesFor(names, ofWorkspace, [new URL(request.url)])
          return Result.isFailure(allowed)
            ? Effect.succeed(notSent(allowed.failure))
            : Effect.map(httpOf(transmission, signing)(request), redacted)
        }
        // Redacted before the response is truncated, because truncation may cut a secret in half.
        const redacted = (result: CallResult): CallResult => ({
          ...result,
          response_body: redact(result.response_body, secrets)
        })
        const now = yield* DateTime.nowAsDate
        const transports: Transports = {
          http: (request) => call(request),
          signedHttp: (request) =>
            Effect.flatMap(signingSecrets.findLive([workspace_id]), (live) => {
              const own = live.get(workspace_id)
              return own === undefined
                ? Effect.succeed(notSent(cannotSign))
                : call(request, { purpose: "message", secrets: own })
            }),
          mail: mailer.send,
          link: (what: MailLink) =>
            linkTo(linkRing, publicUrl, what, { id: sealedFor, config }, now)
        }
        const result =
          message === "confirmation"
            ? yield* mailer.send(
                confirmationMail(
                  delivery_id,
                  String(config["to"]),
                  publicUrl,
                  transports.link("confirm")
                )
              )
            : yield* kind.send(config, withLink(transmission, message, now), transports)
        // Redacted again, because an escaped secret appears unescaped in the fields parsed from the
        // response.
        return {
          ...result,
          response: redact(result.response, secrets),
          error: redact(result.error, secrets)
        }
      })

      return {
        send: Effect.fn("Transport.send")(function* (transmission: Transmission) {
          const clock = yield* Clock.Clock
          const started = clock.monotonicTimeNanosUnsafe()
          const result = yield* Effect.suspend(() => transmit(transmission)).pipe(
            Effect.timeoutOrElse({
              duration: transmission.timeout_seconds * 1_000,
              orElse: () =>
                Effect.succeed(noResponse(`timeout after ${transmission.timeout_seconds} s`))
            }),
            Effect.catchDefect((defect) =>
              Effect.as(
                Effect.logError(
                  `delivery ${transmission.delivery_id} failed: ${shortMessage(Cause.die(defect))}`
                ),
                noResponse("internal error")
              )
            )
          )
          const nanos = clock.monotonicTimeNanosUnsafe() - started
          return {
            ...result,
            response:
              result.response === null ? null : truncate(toStorableText(result.response), 1_000),
            error: result.error === null ? null : truncate(toStorableText(result.error), 500),
            duration_ms: Math.round(Number(nanos) / 1e6)
          }
        })
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const noResponse = (error: string): ChannelResult => ({
  outcome: "again",
  status_code: null,
  response: null,
  error,
  after_seconds: null,
  gone: false
})

const lostSecrets = "the secrets of the channel can no longer be decrypted: enter them again"

/** Retried, because the workspace can fix its secrets before retries of the delivery end. */
const notSent = (error: ExecutionError): CallResult => ({
  status_code: null,
  response_body: null,
  error,
  retry_after_seconds: null,
  outcome: "retryable",
  completes_later: false,
  exchange: null,
  duration_ms: 0
})

/** PostgreSQL cannot store NUL or unpaired surrogates. */
const toStorableText = (text: string) => text.replaceAll("\0", "\ufffd").toWellFormed()
