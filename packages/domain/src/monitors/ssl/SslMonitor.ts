import { Schema, Struct } from "effect"
import {
  patchFields,
  optionalWithDefault,
  optionalWithNote
} from "../../shared/requests/optionalWithDefault.ts"
import { oneOf } from "../../shared/oneOf.ts"
import { keyInput } from "../../shared/requests/CallerChosenKey.ts"
import { ListPage } from "../../shared/requests/ListQuery.ts"
import { putFields } from "../../shared/requests/putBody.ts"
import { versionInput } from "../../shared/requests/Version.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { exampleOfMonitor, monitorFields, monitorInput, monitorPausedInput } from "../Monitor.ts"
import { Certificate } from "./Certificate.ts"
import { hostName } from "./hostName.ts"

export const SslProtocol = oneOf(["tls", "smtp", "imap", "pop3", "postgres"], {
  identifier: "SslProtocol",
  description:
    "`tls` starts with the handshake. The other protocols request the handshake first (STARTTLS)."
})
export type SslProtocol = typeof SslProtocol.Type

export const SslVerification = oneOf(
  [
    "ok",
    "expired",
    "not_yet_valid",
    "self_signed",
    "unknown_issuer",
    "incomplete_chain",
    "host_mismatch",
    "handshake_failed",
    "unreachable"
  ],
  {
    identifier: "SslVerification",
    description:
      "The result that a client would get. `incomplete_chain`: the server does not send the certificate of " +
      "the issuer. `host_mismatch`: the certificate is for other names. `handshake_failed` and " +
      "`unreachable`: there is no certificate to check. Revocation is not checked."
  }
)
export type SslVerification = typeof SslVerification.Type

export const defaultPorts: Readonly<Record<SslProtocol, number>> = {
  tls: 443,
  smtp: 587,
  imap: 143,
  pop3: 110,
  postgres: 5432
}

export const sslDefaults = {
  key: null,
  tags: [],
  protocol: "tls",
  server_name: null,
  warn_days: [30, 14, 7, 3, 1],
  check_interval_seconds: 21_600
} as const

const fields = Schema.Struct({
  ...monitorInput,
  host: hostName(
    "The name or address of the server. `münchen.de` is stored as `xn--mnchen-3ya.de`."
  ),
  port: optionalWithNote(
    "When absent: 443, or for STARTTLS 587 (smtp), 143 (imap), 110 (pop3) or 5432 (postgres).",
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 })).annotate({
      description: "The port of the server.",
      examples: [443]
    })
  ),
  server_name: optionalWithDefault(
    "`host`",
    Schema.NullOr(
      hostName(
        "The name that the check requests from the server (SNI) and that the certificate must cover."
      )
    )
  ),
  protocol: optionalWithDefault("`tls`", SslProtocol),
  warn_days: optionalWithDefault(
    "[30, 14, 7, 3, 1]",
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 365 })))
      .check(Schema.isMaxLength(10), Schema.isUnique())
      .annotate({
        description:
          "How many days before a certificate in the chain expires to notify people, once for each number. For a short-lived certificate, only days in its last third count. At most 10.",
        examples: [[30, 14, 7, 3, 1]]
      })
  ),
  check_interval_seconds: optionalWithDefault(
    "21,600",
    Schema.Int.check(Schema.isBetween({ minimum: 3600, maximum: 604_800 })).annotate({
      description:
        "Number of seconds between two checks, plus or minus a tenth. At most ten minutes while the " +
        "monitor is down.",
      examples: [21_600]
    })
  )
})

const exampleDefinition = { name: "Website", host: "www.example.com", tags: ["web"] }

const fieldsWithKey = fields.mapFields(Struct.assign({ ...keyInput, ...monitorPausedInput }))

export const SslMonitorInput = fieldsWithKey.annotate({
  identifier: "SslMonitorInput",
  examples: [exampleDefinition]
})
export type SslMonitorInput = typeof SslMonitorInput.Type

export const SslMonitorUpdate = fieldsWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign(versionInput))
  .annotate({
    identifier: "SslMonitorUpdate",
    description:
      "The fields to change. Absent fields keep their values. The certificate is checked again. Changing the host, port, protocol or server name makes the monitor `new` again and closes its incident.",
    examples: [{ warn_days: [14, 7] }]
  })
export type SslMonitorUpdate = typeof SslMonitorUpdate.Type

export const SslMonitor = Schema.Struct({
  ...monitorFields,
  host: Schema.String.annotate({ description: "The name or address of the server." }),
  port: Schema.Int.annotate({ description: "The port of the server." }),
  server_name: Schema.NullOr(Schema.String).annotate({
    description: "The name that the check requests from the server (SNI). Null: `host`."
  }),
  protocol: SslProtocol,
  warn_days: Schema.Array(Schema.Int).annotate({
    description: "How many days before the expiry people are notified."
  }),
  check_interval_seconds: Schema.Int.annotate({
    description: "Number of seconds between two checks."
  }),
  last_check_at: Schema.NullOr(Timestamp).annotate({
    description: "When the certificate was last checked. Null before the first check."
  }),
  verification: Schema.NullOr(SslVerification).annotate({
    description: "The result of the latest check. Null before the first check."
  }),
  verification_message: Schema.NullOr(Schema.String).annotate({
    description: "What is wrong with the certificate, as a sentence. Null if it is valid."
  }),
  certificate: Schema.NullOr(Certificate).annotate({
    description: "The latest certificate, valid or not."
  })
}).annotate({
  identifier: "SslMonitor",
  examples: [
    {
      ...exampleOfMonitor,
      name: "Website",
      tags: ["web"],
      host: "www.example.com",
      port: 443,
      server_name: null,
      protocol: "tls",
      warn_days: [30, 14, 7, 3, 1],
      check_interval_seconds: 21_600,
      last_check_at: "2026-01-31T09:30:00.000Z",
      verification: "ok",
      verification_message: null,
      certificate: {
        subject: "CN=www.example.com",
        issuer: "C=US, O=Let's Encrypt, CN=E7",
        names: ["www.example.com", "example.com"],
        serial: "05A1B2C3D4E5F60718293A4B5C6D7E8F9012",
        fingerprint_sha256: "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
        valid_from: "2026-01-02T00:00:00.000Z",
        valid_to: "2026-04-02T00:00:00.000Z",
        days_left: 60,
        chain: [
          {
            subject: "C=US, O=Let's Encrypt, CN=E7",
            issuer: "C=US, O=Internet Security Research Group, CN=ISRG Root X1",
            fingerprint_sha256: "AEB1FD7410E83BC96F5DA3C6A7C2C1BB836D1FA5CB86E708515890E428A8770B",
            valid_from: "2024-03-13T00:00:00.000Z",
            valid_to: "2027-03-12T23:59:59.000Z"
          }
        ]
      }
    }
  ]
})
export type SslMonitor = typeof SslMonitor.Type

export const SslMonitorDefinition = Schema.Struct(
  putFields({ ...fields.fields, ...monitorPausedInput, ...versionInput }, SslMonitor)
).annotate({
  identifier: "SslMonitorDefinition",
  description:
    "An SSL monitor whose key is in the path. Absent fields get their defaults. Fields that " +
    "only responses have are ignored.",
  examples: [exampleDefinition]
})
export type SslMonitorDefinition = typeof SslMonitorDefinition.Type

export const SslMonitorPage = ListPage("SslMonitorPage", SslMonitor)
