import { Schema } from "effect"
import { MonitorEventId } from "../../shared/Ids.ts"
import { oneOf } from "../../shared/oneOf.ts"
import { Page } from "../../shared/requests/Page.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { MonitorStatus } from "../Monitor.ts"

export const ProcessEventType = oneOf(["up", "down", "paused", "resumed"], {
  identifier: "ProcessEventType",
  description:
    "`up`: all rules hold again, or for the first time. `down`: a rule was broken for too long, or the worker has not reported."
})
export type ProcessEventType = typeof ProcessEventType.Type

export const ProcessEvent = Schema.Struct({
  id: MonitorEventId,
  type: ProcessEventType,
  at: Timestamp.annotate({ description: "When it happened." }),
  status: MonitorStatus,
  message: Schema.NullOr(Schema.String).annotate({
    description: "Why the monitor went down. Null for other events.",
    examples: ["0 matching processes are running; the minimum is 1."]
  })
}).annotate({
  identifier: "ProcessEvent",
  examples: [
    {
      id: MonitorEventId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"),
      type: "down",
      at: "2026-01-31T09:30:00.000Z",
      status: "down",
      message: "0 matching processes are running; the minimum is 1."
    }
  ]
})
export type ProcessEvent = typeof ProcessEvent.Type

export const ProcessEventPage = Page("ProcessEventPage", ProcessEvent)
