import { Context, Effect, Layer, Redacted } from "effect"
import { createTransport, type SentMessageInfo } from "nodemailer"
import { AppConfig, truncate, toOneLine } from "../core/index.ts"
import type { Mail, SendResult } from "./Mail.ts"

export class Mailer extends Context.Service<
  Mailer,
  {
    /** Why no email can be sent. Null if emails can be sent. */
    readonly unavailable: string | null
    readonly send: (mail: Mail) => Effect.Effect<SendResult>
  }
>()("@scheduling/server/mail/Mailer") {
  static readonly layer: Layer.Layer<Mailer, never, AppConfig> = Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { dkimDomain, dkimPrivateKey, dkimSelector, mailFrom, smtpUrl } = yield* AppConfig
      if (smtpUrl === undefined || mailFrom === undefined) {
        return Mailer.of({
          unavailable: "The operator of this service has not configured a mail server (SMTP_URL).",
          send: () => Effect.succeed(failed("again", "no mail server is configured", null))
        })
      }
      const url = Redacted.value(smtpUrl)
      const dkim =
        dkimDomain === undefined || dkimSelector === undefined || dkimPrivateKey === undefined
          ? {}
          : {
              dkim: {
                domainName: dkimDomain,
                keySelector: dkimSelector,
                privateKey: Redacted.value(dkimPrivateKey)
              }
            }
      const transport = createTransport({
        url,
        pool: true,
        maxConnections: 5,
        maxMessages: 1_000,
        // The library does not resend an email after a failed connection, because the caller counts
        // the attempts and retries.
        maxRequeues: 0,
        connectionTimeout: 10_000,
        greetingTimeout: 10_000,
        socketTimeout: 20_000,
        requireTLS: needsTls(url),
        disableFileAccess: true,
        disableUrlAccess: true,
        ...dkim
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => transport.close()))
      const domain = (/@([^<>\s]+)>?$/.exec(mailFrom)?.[1] ?? "localhost").toLowerCase()
      const idOf = (id: string) => `<${id}@${domain}>`

      return Mailer.of({
        unavailable: null,
        send: ({ headers, html, id, subject, text, thread, to }) =>
          Effect.tryPromise({
            try: (signal) =>
              transport.sendMail({
                from: mailFrom,
                // The address is passed as an object, because a comma in a string would add a
                // second recipient.
                to: { name: "", address: to },
                subject: truncate(toOneLine(subject), 200),
                text,
                html,
                messageId: idOf(id),
                ...(thread === undefined ? {} : { references: [idOf(thread)] }),
                headers: {
                  ...headers,
                  "Auto-Submitted": "auto-generated",
                  "X-Auto-Response-Suppress": "All"
                },
                signal
              }),
            catch: (error) => error
          }).pipe(
            Effect.map(delivered),
            Effect.catch((error) => Effect.succeed(classifyError(error)))
          )
      })
    })
  )
}

/**
 * Returns whether TLS is required because a password would be sent over a network. `requireTLS` in
 * the URL overrides this.
 */
const needsTls = (text: string): boolean => {
  const url = new URL(text)
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  const says = url.searchParams.get("requireTLS")
  return says === null ? url.username !== "" && !isLocal : says === "true"
}

const delivered = ({ response }: SentMessageInfo): SendResult => ({
  outcome: "delivered",
  status_code: codeIn(response),
  response: truncate(toOneLine(String(response ?? "")), 300),
  error: null,
  after_seconds: null,
  gone: false
})

const failed = (
  outcome: "again" | "never",
  error: string,
  status_code: number | null,
  gone = false
): SendResult => ({ outcome, status_code, response: null, error, after_seconds: null, gone })

const codeIn = (response: unknown): number | null => {
  const [code] = /^\d{3}/.exec(String(response)) ?? []
  return code === undefined ? null : Number(code)
}

/** The error that users see. It does not reveal the operator's network. */
const unreachable = "the mail server cannot be reached"

/**
 * Classifies an error. A response about the recipient is final if its code begins with 5. A failed
 * login or connection is never final, because the operator can fix it.
 */
const classifyError = (error: unknown): SendResult => {
  const { code, response, responseCode } = Object(error) as {
    readonly code?: unknown
    readonly response?: unknown
    readonly responseCode?: unknown
  }
  const status = typeof responseCode === "number" ? responseCode : codeIn(response)
  if (code === "EAUTH") return failed("again", "the login to the mail server failed", null)
  if (code === "ETLS") return failed("again", "TLS with the mail server failed", null)
  if (status === null || (code !== "EENVELOPE" && code !== "EMESSAGE")) {
    return failed("again", unreachable, null)
  }
  const said = `responded with ${truncate(toOneLine(String(response ?? status)), 300)}`
  if (status < 500) return failed("again", said, status)
  // 530, 535 and 538 mean that the service could not log in to the mail server. 5.4.4 means a
  // temporary DNS failure.
  if ([530, 535, 538].includes(status) || /\b5\.4\.4\b/.test(said)) {
    return failed("again", said, status)
  }
  return failed(
    "never",
    said,
    status,
    code === "EENVELOPE" && [550, 551, 553, 554].includes(status)
  )
}
