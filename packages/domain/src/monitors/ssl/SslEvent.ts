import { Schema } from "effect"
import { MonitorEventId } from "../../shared/Ids.ts"
import { oneOf } from "../../shared/oneOf.ts"
import { Page } from "../../shared/requests/Page.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { MonitorStatus } from "../Monitor.ts"
import { SslVerification } from "./SslMonitor.ts"

export const SslEventType = oneOf(
  ["check", "certificate_changed", "certificate_expiring", "paused", "resumed"],
  {
    identifier: "SslEventType",
    description:
      "`check`: the certificate was checked. `certificate_changed`: the server sends a new " +
      "certificate. `certificate_expiring`: one of `warn_days` is reached."
  }
)
export type SslEventType = typeof SslEventType.Type

export const SslEvent = Schema.Struct({
  id: MonitorEventId,
  type: SslEventType,
  at: Timestamp.annotate({ description: "When it happened." }),
  status: MonitorStatus,
  verification: Schema.NullOr(SslVerification).annotate({
    description: "The result of the check. Null for other events."
  }),
  message: Schema.NullOr(Schema.String).annotate({
    description: "The result as a sentence. Null if the certificate is valid."
  }),
  fingerprint_sha256: Schema.NullOr(Schema.String).annotate({
    description: "The fingerprint of the certificate. Null if there was none."
  }),
  duration_ms: Schema.NullOr(Schema.Int).annotate({ description: "The duration of the check." })
}).annotate({
  identifier: "SslEvent",
  examples: [
    {
      id: MonitorEventId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"),
      type: "check",
      at: "2026-01-31T09:30:00.000Z",
      status: "up",
      verification: "ok",
      message: null,
      fingerprint_sha256: "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
      duration_ms: 84
    }
  ]
})
export type SslEvent = typeof SslEvent.Type

export const SslEventPage = Page("SslEventPage", SslEvent)
