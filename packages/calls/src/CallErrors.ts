import { Data } from "effect"
import { AnswerCutOff, HeadTooLarge, InvalidAnswer } from "./exchange/AnswerParser.ts"
import { AnswerTooLong } from "./exchange/Connection.ts"
import { ConnectTimeout, EgressRefused } from "./egress/Egress.ts"

/** Codes of Node, OpenSSL and c-ares. Every other code becomes "connection failed". */
const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  EADDRNOTAVAIL: "host unreachable",

  ENOTFOUND: "dns: host not found",
  ENODATA: "dns: host has no address",
  EAI_AGAIN: "dns: name server did not answer",
  ESERVFAIL: "dns: name server failed",
  ETIMEOUT: "dns: name server did not answer",

  CERT_HAS_EXPIRED: "tls: certificate has expired",
  CERT_NOT_YET_VALID: "tls: certificate is not yet valid",
  CERT_REVOKED: "tls: certificate was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls: certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "tls: certificate chain is self-signed",
  UNABLE_TO_GET_ISSUER_CERT: "tls: certificate issuer is unknown",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls: certificate issuer is unknown",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls: certificate chain is incomplete",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls: certificate is for another host",
  EPROTO: "tls: handshake failed"
}

/** An error that another thread has described already. */
export class DescribedError extends Data.TaggedError("DescribedError")<{
  readonly message: string
}> {}

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : ""

/** One line for the user. It names no address from DNS, no file and no library. */
export const describeError = (error: Error): string => {
  if (error instanceof EgressRefused || error instanceof DescribedError) return error.message
  if (error instanceof ConnectTimeout) return `connection timed out after ${error.seconds} s`
  if (error instanceof AnswerTooLong) return "the answer is too long"
  if (error instanceof HeadTooLarge) return "response headers too large"
  if (error instanceof InvalidAnswer) return "invalid HTTP answer"
  if (error instanceof AnswerCutOff) return "connection closed before the answer was complete"
  const code = codeOf(error)
  const text = texts[code]
  if (text !== undefined) return text
  if (code.startsWith("ERR_SSL_")) return "tls: handshake failed"
  return "connection failed"
}
