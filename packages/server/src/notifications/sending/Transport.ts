import { OutgoingCalls } from "@scheduling/calls/OutgoingCalls"
import type { CallResult } from "@scheduling/calls/CallResult"
import type { Signing } from "@scheduling/calls/signing"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { DeliveryKind } from "@scheduling/domain/notifications/NotificationDelivery"
import type { ExecutionError } from "@scheduling/domain/executions/ExecutionError"
import { Cause, Clock, Context, DateTime, Effect, Layer, Result } from "effect"
import { AppConfig, truncate, Secrets, shortMessage } from "../../core/index.ts"
import { CallSecrets, signingError, SigningSecrets, secretValuesFor } from "../../engine/index.ts"
import { Mailer } from "../../mail/index.ts"
import { decryptConfig, redactSecrets, type SealedConfig } from "../channels/ChannelSecrets.ts"
import { confirmationMail } from "../channels/confirmationMail.ts"
import { mailLinkTo } from "../channels/mailLinks.ts"
import { incidentLink } from "../links/incidentLink.ts"
import { messageLink } from "../links/messageLinks.ts"
import { secretNamesIn, withSecrets } from "../channels/references.ts"
import type {
  ChannelResult,
  MailLinkPurpose,
  OutgoingRequest,
  Transports
} from "../kinds/ChannelKind.ts"
import { channelKinds } from "../kinds/channelKinds.ts"
import type { Message } from "../kinds/Message.ts"

/** A message, with the channel or the callback through which it is sent. */
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
 * Hands a message to a provider. Every result, including a failure, is returned as a value that
 * contains none of the channel's secrets.
 */
export class Transport extends Context.Service<Transport>()(
  "@scheduling/server/notifications/sending/Transport",
  {
    make: Effect.gen(function* () {
      const { publicUrl = "" } = yield* AppConfig
      const calls = yield* OutgoingCalls
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

      /**
       * Adds the link with which the recipients respond to an incident, or approve or reject a
       * step.
       */
      const withLink = (
        { channel_id, kind, workspace_id }: Transmission,
        message: Message,
        now: Date
      ): Message => {
        const [only] = message.events
        if (only === undefined || message.count > 1 || channel_id === null || publicUrl === "") {
          return message
        }
        if ("approval" in only.data) {
          const { approval, execution } = only.data
          const link =
            approval.approvers.length > 0
              ? `${publicUrl}/w/${workspace_id}/executions/${execution.id}`
              : messageLink(linkRing, publicUrl, "approve", {
                  subjectId: execution.id,
                  channelId: channel_id,
                  expiresMs: Date.parse(approval.until)
                })
          const fact = { name: "Approve or reject", value: link }
          return {
            ...message,
            facts: [...message.facts, fact],
            events: [{ ...only, facts: [...only.facts, fact] }]
          }
        }
        // Providers that keep incidents have their own acknowledge button, so the message needs no
        // link.
        if (only.incident_id === undefined || channelKinds[kind].keepsIncidents) return message
        const link = incidentLink(linkRing, publicUrl, only.incident_id, channel_id, now)
        return { ...message, facts: [...message.facts, { name: "Respond", value: link }] }
      }

      const transmit = Effect.fnUntraced(function* (transmission: Transmission) {
        const { channel_id, delivery_id, message, workspace_id } = transmission
        const kind = channelKinds[transmission.kind]
        const sealedFor = channel_id ?? delivery_id
        const opened = decryptConfig(ring, sealedFor, kind, transmission.config)
        if (opened === undefined) return noResponse(lostSecrets)
        const names = secretNamesIn(opened.config)
        const ofWorkspace = yield* callSecrets.open(workspace_id, names)
        const values = secretValuesFor(names, ofWorkspace, [])
        if (Result.isFailure(values)) return noResponse(values.failure.message)
        const config = withSecrets(opened.config, values.success)
        const secrets = [...opened.secrets, ...values.success.values()]
        /**
         * Makes a request, unless it contains a workspace secret that must not be sent to its host.
         */
        const call = (request: OutgoingRequest, signing?: Signing) => {
          const allowed = secretValuesFor(names, ofWorkspace, [new URL(request.url)])
          return Result.isFailure(allowed)
            ? Effect.succeed(notSent(allowed.failure))
            : Effect.map(httpOf(transmission, signing)(request), redactResult)
        }
        // Secrets are redacted before the response is truncated, because truncation could cut a
        // secret in half.
        const redactResult = (result: CallResult): CallResult => ({
          ...result,
          response_body: redactSecrets(result.response_body, secrets)
        })
        const now = yield* DateTime.nowAsDate
        const transports: Transports = {
          http: (request) => call(request),
          signedHttp: (request) =>
            Effect.flatMap(signingSecrets.findLive([workspace_id]), (live) => {
              const own = live.get(workspace_id)
              return own === undefined
                ? Effect.succeed(notSent(signingError))
                : call(request, { purpose: "message", secrets: own })
            }),
          mail: mailer.send,
          link: (what: MailLinkPurpose) =>
            mailLinkTo(linkRing, publicUrl, what, { id: sealedFor, config }, now)
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
        // Secrets are redacted again, because a secret that was escaped in the response is
        // unescaped in the parsed fields.
        return {
          ...result,
          response: redactSecrets(result.response, secrets),
          error: redactSecrets(result.error, secrets)
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

/**
 * Returns the result of a call that was not made because of its secrets. The delivery is retried,
 * because somebody can correct the secrets before the retries end.
 */
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

/** Replaces NUL characters and unpaired surrogates, which PostgreSQL cannot store. */
const toStorableText = (text: string) => text.replaceAll("\0", "\ufffd").toWellFormed()
