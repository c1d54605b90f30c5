import { Schema } from "effect"
import { MonitorEventId } from "../../shared/Ids.ts"
import { oneOf } from "../../shared/oneOf.ts"
import { Page } from "../../shared/requests/Page.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { MonitorStatus } from "../Monitor.ts"

/** The causes for a check's failure. */
export const checkErrorCodes = [
  "http_status",
  "response_rule",
  "invalid_response",
  "timeout",
  "dns",
  "connection",
  "tls",
  "address_refused",
  "invalid_template",
  "secret_missing",
  "secret_refused",
  "auth_failed",
  "too_slow",
  "certificate_expiring",
  "too_many_redirects",
  "internal"
] as const

export const CheckErrorCode = oneOf(checkErrorCodes, {
  identifier: "CheckErrorCode",
  description:
    "`http_status`: the status code of the response is not one of `success_codes`. " +
    "`response_rule`: the response is not the expected one. `invalid_response`: the response " +
    "is not valid for the protocol. `timeout`: the check took longer than `timeout_seconds`. " +
    "`dns`: the host name has no address, or the lookup failed. `connection`: the connection " +
    "was refused, failed or broke. `tls`: the handshake failed, or the certificate is not " +
    "valid. `address_refused`: the service may not connect to the address. `invalid_template`: " +
    "the request is not valid after its values are filled in. `secret_missing`: the workspace " +
    "has no secret with this name. `secret_refused`: a secret may not be sent to this host. " +
    "`auth_failed`: the authorization server returned no access token. `too_slow`: the " +
    "response took longer than `max_latency_ms`. `certificate_expiring`: the certificate is " +
    "valid for less than `min_certificate_days`. `too_many_redirects`: there were more than 10 " +
    "redirects. `internal`: an error in the service."
})
export type CheckErrorCode = typeof CheckErrorCode.Type

export const CheckError = Schema.Struct({
  code: CheckErrorCode,
  message: Schema.String.annotate({
    description: "The failed rule as a human-readable sentence. Its wording may change.",
    examples: ["The status 503 is not one of 200-299."]
  })
}).annotate({
  identifier: "CheckError",
  examples: [{ code: "http_status", message: "The status 503 is not one of 200-299." }]
})
export type CheckError = typeof CheckError.Type

const ms = (description: string) => Schema.NullOr(Schema.Int).annotate({ description })

const measured = {
  error: Schema.NullOr(CheckError).annotate({
    description: "Why the check failed. Null if it succeeded."
  }),
  duration_ms: ms("How long the check took. Null if nothing was sent."),
  dns_ms: ms("How long the name lookup took. Null if there was none."),
  connect_ms: ms("How long connecting took. Null if there was no connection."),
  tls_ms: ms("How long the TLS handshake took. Null if there was none."),
  wait_ms: ms(
    "From sending the request to the first byte of the response. Null if there was " +
      "no response."
  ),
  status_code: Schema.NullOr(Schema.Int).annotate({
    description: "The status code of the HTTP response. Null if there was none."
  }),
  certificate_expires_at: Schema.NullOr(Timestamp).annotate({
    description: "When the certificate of the server expires. Null if there was none."
  }),
  values: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "The first 20 values of a DNS answer. Null for other checks."
  })
}

export const Check = Schema.Struct({
  at: Timestamp.annotate({ description: "When the check finished." }),
  ...measured
}).annotate({
  identifier: "Check",
  description: "The result of one check."
})
export type Check = typeof Check.Type

/** The result of one check, without its time. */
export type CheckResult = Omit<Check, "at">

export const exampleOfCheck = {
  error: null,
  duration_ms: 96,
  dns_ms: 3,
  connect_ms: 14,
  tls_ms: 31,
  wait_ms: 44,
  status_code: 200,
  certificate_expires_at: "2026-04-02T00:00:00.000Z",
  values: null
} as const

export const CheckEventType = oneOf(["check", "paused", "resumed"], {
  identifier: "CheckEventType",
  description: "`check`: the target was checked. The other types are about the monitor."
})
export type CheckEventType = typeof CheckEventType.Type

export const CheckEvent = Schema.Struct({
  id: MonitorEventId,
  type: CheckEventType,
  at: Timestamp.annotate({ description: "When it happened." }),
  status: MonitorStatus,
  ...measured
}).annotate({
  identifier: "CheckEvent",
  examples: [
    {
      id: MonitorEventId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"),
      type: "check",
      at: "2026-01-31T09:30:00.000Z",
      status: "up",
      ...exampleOfCheck
    }
  ]
})
export type CheckEvent = typeof CheckEvent.Type

export const CheckEventPage = Page("CheckEventPage", CheckEvent)
