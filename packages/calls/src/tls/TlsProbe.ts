import type { SslProtocol, SslVerification } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Clock, Context, Effect, Layer } from "effect"
import { isIP, type Socket } from "node:net"
import { checkServerIdentity, connect as connectTls } from "node:tls"
import { describeError } from "../describeError.ts"
import {
  findExpired,
  toServerCertificate,
  type ChainCertificate,
  type ServerCertificate
} from "./CertificateChain.ts"
import { EgressAllow, makeConnect, Resolver } from "../egress/Egress.ts"
import { startTls, StartTlsFailed } from "./StartTls.ts"

export interface TlsTarget {
  readonly host: string
  readonly port: number
  /** The name that is sent to the server (SNI), and that the certificate must match. */
  readonly server_name: string
  readonly protocol: SslProtocol
}

export interface TlsCheckResult {
  readonly verification: SslVerification
  /** A description of the problem. Null if `verification` is `ok`. */
  readonly message: string | null
  readonly certificate: ServerCertificate | null
}

/** The timeout from the first packet to the certificate. */
export const certificateTimeoutSeconds = 15

/**
 * Checks the certificate of a server as a client would, under the same egress rules as calls. The
 * handshake accepts any certificate, so that an invalid one can be shown; it is verified
 * afterwards. Each check opens a new connection without a TLS session, because a resumed session
 * presents no certificate.
 */
export class TlsProbe extends Context.Service<
  TlsProbe,
  { readonly check: (target: TlsTarget) => Effect.Effect<TlsCheckResult> }
>()("@scheduling/calls/tls/TlsProbe") {
  static readonly layer: Layer.Layer<TlsProbe> = Layer.effect(
    TlsProbe,
    Effect.gen(function* () {
      const connect = makeConnect({ allow: yield* EgressAllow, resolve: yield* Resolver })

      const handshake = (target: TlsTarget) =>
        Effect.callback<Handshake | Failed>((resume) => {
          let isConnected = false
          let secure: Socket | undefined
          const close = () => {
            secure?.destroy()
            socket?.destroy()
          }
          const finish = (result: Handshake | Failed) => {
            close()
            resume(Effect.succeed(result))
          }
          const fail = (error: Error) => finish({ error, isConnected })
          const secured = (connected: Socket) => {
            const tls = connectTls({
              socket: connected,
              rejectUnauthorized: false,
              checkServerIdentity: () => undefined,
              ...(isIP(target.server_name) === 0
                ? { servername: target.server_name.replace(/\.$/, "") }
                : {})
            })
            secure = tls
            tls.on("error", fail).once("secureConnect", () => {
              const peer = tls.getPeerCertificate(true)
              const certificate = toServerCertificate(peer)
              finish({
                certificate,
                chainError: tls.authorized ? undefined : String(tls.authorizationError),
                hostError:
                  certificate === undefined
                    ? undefined
                    : checkServerIdentity(target.server_name, peer)
              })
            })
          }
          const socket = connect(
            { host: target.host, hostname: target.host, port: target.port, isSecure: false },
            (error, connected) => {
              if (error !== null) return fail(error)
              isConnected = true
              connected.on("error", fail)
              if (target.protocol === "tls") return secured(connected)
              startTls(connected, target.protocol, () => secured(connected), fail)
            }
          )
          return Effect.sync(close)
        }).pipe(
          Effect.timeoutOrElse({
            duration: `${certificateTimeoutSeconds} seconds`,
            orElse: () => Effect.succeed(timedOut)
          })
        )

      return TlsProbe.of({
        check: Effect.fn("TlsProbe.check")(function* (target) {
          const result = yield* handshake(target)
          const nowMs = yield* Clock.currentTimeMillis
          return "error" in result ? checkOf(result) : verifyCertificate(result, nowMs)
        })
      })
    })
  )
}

/** Verifies a certificate like a client that trusts the same certificate authorities. */
export const verifyCertificate = (
  { certificate, chainError, hostError }: Handshake,
  nowMs: number
): TlsCheckResult => {
  if (certificate === undefined) {
    return {
      verification: "handshake_failed",
      message: "The server presents no certificate.",
      certificate: null
    }
  }
  const check = (verification: SslVerification, message: string | null): TlsCheckResult => ({
    verification,
    message,
    certificate
  })
  const { issuer, names, subject, valid_from, valid_to } = certificate
  if (nowMs > valid_to) return check("expired", `The certificate expired on ${dayOf(valid_to)}.`)
  if (nowMs < valid_from)
    return check("not_yet_valid", `The certificate is not valid before ${dayOf(valid_from)}.`)
  switch (chainError) {
    case undefined:
      break
    case "CERT_HAS_EXPIRED":
      return check("expired", describeExpiredIssuer(findExpired(certificate, nowMs)))
    case "CERT_NOT_YET_VALID":
      return check("not_yet_valid", "The certificate of an issuer is not valid yet.")
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
      return check("self_signed", "The certificate is self-signed.")
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return check(
        "incomplete_chain",
        `The server does not send the certificate of its issuer, ${issuer}, which clients do not know.`
      )
    default:
      return check(
        "unknown_issuer",
        `The issuer ${certificate.chain.at(-1)?.issuer ?? issuer} is not trusted.`
      )
  }
  if (hostError === undefined) return check("ok", null)
  const shown = names.length === 0 ? subject : names.slice(0, 5).join(", ")
  return check(
    "host_mismatch",
    `The certificate is for ${shown}${names.length > 5 ? " and others" : ""}.`
  )
}

const describeExpiredIssuer = (issuer: ChainCertificate | undefined) =>
  issuer === undefined
    ? "The certificate of an issuer has expired."
    : `The certificate of the issuer ${issuer.subject} expired on ${dayOf(issuer.valid_to)}.`

export interface Handshake {
  readonly certificate: ServerCertificate | undefined
  /** The first problem that OpenSSL found in the chain. OpenSSL does not compare the host name. */
  readonly chainError: string | undefined
  readonly hostError: Error | undefined
}

interface Failed {
  readonly error: Error
  readonly isConnected: boolean
}

const timedOut: Failed = {
  error: new StartTlsFailed({
    message: `no certificate was received within ${certificateTimeoutSeconds} s`
  }),
  isConnected: true
}

const checkOf = ({ error, isConnected }: Failed): TlsCheckResult => ({
  verification: isConnected ? "handshake_failed" : "unreachable",
  message: sentence(explain(error)),
  certificate: null
})

const explain = (error: Error): string => {
  if (error instanceof StartTlsFailed) return error.message
  const code = "code" in error ? String(error.code) : ""
  return /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|VERSION_TOO_LOW/.test(code)
    ? "the server does not support TLS 1.2 or later"
    : describeError(error).message
}

/** `host not found` → `Host not found.` */
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
