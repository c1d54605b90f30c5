import { Schema } from "effect"
import { MonitorEventId } from "../../shared/Ids.ts"
import { oneOf } from "../../shared/oneOf.ts"
import { Page } from "../../shared/requests/Page.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { MonitorStatus } from "../Monitor.ts"

/**
 * How many bytes of a ping's body are stored. A longer body is truncated, and the ping still
 * counts.
 */
export const maxStoredPingBodyBytes = 10_000

export const HeartbeatEventType = oneOf(
  ["success", "fail", "start", "log", "missed", "overran", "paused", "resumed"],
  {
    identifier: "HeartbeatEventType",
    description:
      "`success`, `fail`, `start` and `log` are pings. `missed`: no ping arrived in time. " +
      "`overran`: a run exceeded its maximum duration. `paused` and `resumed`: a user paused or resumed the monitor."
  }
)
export type HeartbeatEventType = typeof HeartbeatEventType.Type

export const HeartbeatEvent = Schema.Struct({
  id: MonitorEventId,
  type: HeartbeatEventType,
  at: Timestamp.annotate({ description: "When it happened." }),
  status: MonitorStatus,
  rid: Schema.NullOr(Schema.String).annotate({
    description: "The `rid` of the ping, which distinguishes overlapping runs."
  }),
  exit_status: Schema.NullOr(Schema.Int).annotate({
    description: "The exit status of the job. Null if the ping did not contain one."
  }),
  duration_ms: Schema.NullOr(Schema.Int).annotate({
    description: "The duration of the run. Null if its start is unknown."
  }),
  method: Schema.NullOr(Schema.String).annotate({ description: "The HTTP method of the ping." }),
  ip: Schema.NullOr(Schema.String).annotate({
    description: "The address of the ping. Null for events without a ping.",
    examples: ["203.0.113.7"]
  }),
  user_agent: Schema.NullOr(Schema.String).annotate({
    description: "The `User-Agent` of the ping. Null if there was none."
  }),
  body: Schema.NullOr(Schema.String).annotate({
    description:
      "The first 10,000 bytes of the ping's body. Null if there was none or it was dropped."
  }),
  body_dropped: Schema.Boolean.annotate({
    description:
      "True if the body was dropped, because the workspace or its account had used up its daily byte limit. The ping still counts."
  })
}).annotate({
  identifier: "HeartbeatEvent",
  examples: [
    {
      id: MonitorEventId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"),
      type: "success",
      at: "2026-01-31T02:04:11.000Z",
      status: "up",
      rid: null,
      exit_status: 0,
      duration_ms: 251_000,
      method: "POST",
      ip: "203.0.113.7",
      user_agent: "curl/8.5.0",
      body: "wrote 41 GB",
      body_dropped: false
    }
  ]
})
export type HeartbeatEvent = typeof HeartbeatEvent.Type

export const HeartbeatEventPage = Page("HeartbeatEventPage", HeartbeatEvent)
