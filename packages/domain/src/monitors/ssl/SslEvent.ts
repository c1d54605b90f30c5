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
      "`check`: the certificate was checked. `certificate_changed`: the server shows one that was not seen " +
      "before. `certificate_expiring`: one of `warn_days` is reached."
  }
)
export type SslEventType = typeof SslEventType.Type

export const SslEvent = Schema.Struct({
  id: MonitorEventId,
  type: SslEventType,
  at: Timestamp.annotate({ description: "When it happened." }),
  status: MonitorStatus,
  verification: Schema.NullOr(SslVerification).annotate({
    description: "What a check found. Null for other events."
  }),
  message: Schema.NullOr(Schema.String).annotate({
    description: "The same for people. Null where all is well."
  }),
  fingerprint_sha256: Schema.NullOr(Schema.String).annotate({
    description: "The certificate that it is about. Null where none was seen."
  }),
  duration_ms: Schema.NullOr(Schema.Int).annotate({ description: "How long a check took." })
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
