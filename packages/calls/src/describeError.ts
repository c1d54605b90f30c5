import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { Data } from "effect"
import { ResponseTruncated, HeadTooLarge, InvalidResponse } from "./exchange/ResponseParser.ts"
import { ResponseTooLong } from "./exchange/Connection.ts"
import { ConnectTimeout, EgressRejected } from "./egress/Egress.ts"

const connection = (message: string) => executionError("connection", message)
const dns = (message: string) => executionError("dns", message)
const tls = (message: string) => executionError("tls", message)
const invalid = (message: string) => executionError("invalid_response", message)

/**
 * Maps error codes of Node, OpenSSL and c-ares to errors. Every other code becomes "connection
 * failed".
 */
const errors: Readonly<Record<string, ExecutionError>> = {
  ECONNREFUSED: connection("connection refused"),
  ECONNRESET: connection("connection reset"),
  EPIPE: connection("connection reset"),
  ETIMEDOUT: connection("connection timed out"),
  EHOSTUNREACH: connection("host unreachable"),
  ENETUNREACH: connection("network unreachable"),
  EADDRNOTAVAIL: connection("host unreachable"),

  ENOTFOUND: dns("host not found"),
  ENODATA: dns("host has no address"),
  EAI_AGAIN: dns("name server did not respond"),
  ESERVFAIL: dns("name server failed"),
  ETIMEOUT: dns("name server did not respond"),

  CERT_HAS_EXPIRED: tls("certificate has expired"),
  CERT_NOT_YET_VALID: tls("certificate is not yet valid"),
  CERT_REVOKED: tls("certificate was revoked"),
  DEPTH_ZERO_SELF_SIGNED_CERT: tls("certificate is self-signed"),
  SELF_SIGNED_CERT_IN_CHAIN: tls("certificate chain is self-signed"),
  UNABLE_TO_GET_ISSUER_CERT: tls("certificate issuer is unknown"),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: tls("certificate issuer is unknown"),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: tls("certificate chain is incomplete"),
  ERR_TLS_CERT_ALTNAME_INVALID: tls("certificate is for another host"),
  EPROTO: tls("TLS handshake failed")
}

/** An error that `describeError` has already described in another thread. */
export class DescribedError extends Data.TaggedError("DescribedError")<{
  readonly described: ExecutionError
}> {}

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : ""

/**
 * Describes why a call got no response. The text reveals no address from DNS, no file and no
 * library.
 */
export const describeError = (error: Error): ExecutionError => {
  if (error instanceof DescribedError) return error.described
  if (error instanceof EgressRejected) return executionError("address_refused", error.message)
  if (error instanceof ConnectTimeout) {
    return connection(`connection timed out after ${error.seconds} s`)
  }
  if (error instanceof ResponseTooLong) return invalid("the response is too long")
  if (error instanceof HeadTooLarge) return invalid("response headers too large")
  if (error instanceof InvalidResponse) return invalid("invalid HTTP response")
  if (error instanceof ResponseTruncated) {
    return connection("connection closed before the response was complete")
  }
  const code = codeOf(error)
  const known = errors[code]
  if (known !== undefined) return known
  return code.startsWith("ERR_SSL_") ? tls("TLS handshake failed") : connection("connection failed")
}
