import { Schema, Struct } from "effect"
import { Attempt, Execution } from "../executions/Execution.ts"
import { NotificationChannelId, NotificationDeliveryId, SubjectId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { Timestamp, createdAt, finishedAt } from "../shared/Timestamp.ts"
import { notificationKinds } from "./NotificationChannel.ts"
import { DeliveredEvent } from "./NotificationEvent.ts"

/**
 * The maximum number of events that a message lists. The message also says how many more there are.
 */
export const maxListedEvents = 10

export const DeliveryStatus = oneOf(
  ["queued", "sending", "delivered", "failed", "cancelled", "dropped"],
  {
    identifier: "DeliveryStatus",
    description:
      "`queued`: waiting for its scheduled time or the next attempt. `failed`: the channel rejected the message, " +
      "or did not accept it within 24 hours. `cancelled`: the channel was paused or deleted before. `dropped`: the plan's limit on waiting callbacks had been reached, so `events_count` callbacks were not sent."
  }
)
export type DeliveryStatus = typeof DeliveryStatus.Type

export const DeliveryKind = oneOf([...notificationKinds, "callback"], {
  identifier: "DeliveryKind",
  description:
    "The kind of the channel, or `callback` for the `on_failure` or `on_success` of a task."
})
export type DeliveryKind = typeof DeliveryKind.Type

export const NotifiedEvent = Schema.Struct({
  type: DeliveredEvent,
  subject_id: SubjectId.annotate({
    description: "The id of the event's subject, such as a task, a monitor or a key."
  }),
  name: Schema.String.annotate({ description: "The name of the subject." }),
  reason: Schema.NullOr(Schema.String).annotate({ description: "The reason, in one line." }),
  at: Timestamp.annotate({ description: "When the event happened." })
}).annotate({ identifier: "NotifiedEvent" })
export type NotifiedEvent = typeof NotifiedEvent.Type

const fields = {
  id: NotificationDeliveryId.annotate({
    description:
      "Sent to the recipient as `Idempotency-Key`, the same for every attempt. Also the `id` of " +
      "the event in the body of a webhook or a callback."
  }),
  channel_id: Schema.NullOr(NotificationChannelId).annotate({
    description:
      "The channel, which may have been deleted. Null for the callbacks of tasks, which use no " +
      "channel."
  }),
  kind: DeliveryKind,
  status: DeliveryStatus,
  events_count: Schema.Int.annotate({
    description: "The number of events in the message. 0 for a confirmation email."
  }),
  events: Schema.Array(NotifiedEvent).annotate({
    description: "The first ten events."
  }),
  ...Struct.pick(Execution.fields, ["attempts_count", "status_code"]),
  error: Schema.NullOr(Schema.String).annotate({ description: "Why the last attempt failed." }),
  next_attempt_at: Schema.NullOr(Timestamp).annotate({
    description: "When the next attempt is made. Null once the delivery has finished."
  }),
  created_at: createdAt,
  finished_at: finishedAt
}

const example = {
  id: NotificationDeliveryId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"),
  channel_id: NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  kind: "slack",
  status: "delivered",
  events_count: 1,
  events: [
    {
      type: "execution.failed",
      subject_id: SubjectId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      name: "Nightly report",
      reason: "connection refused",
      at: "2026-01-31T09:30:00.000Z"
    }
  ],
  attempts_count: 1,
  status_code: 200,
  error: null,
  next_attempt_at: null,
  created_at: "2026-01-31T09:30:00.020Z",
  finished_at: "2026-01-31T09:30:00.153Z"
} as const

/** A message to one channel or one callback URL. */
export const NotificationDelivery = Schema.Struct(fields).annotate({
  identifier: "NotificationDelivery",
  examples: [example]
})
export type NotificationDelivery = typeof NotificationDelivery.Type

export const NotificationDeliveryPage = Page("NotificationDeliveryPage", NotificationDelivery)

export const DeliveryAttempt = Schema.Struct({
  ...Struct.pick(Attempt.fields, ["number", "started_at", "status_code"]),
  finished_at: Schema.NullOr(Timestamp).annotate({
    description: "When the attempt finished. Null if its node was lost."
  }),
  response_body: Schema.NullOr(Schema.String).annotate({
    description:
      "The first 1,000 characters of the response, with the secrets of the channel removed."
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Why the attempt failed. Null if it did not fail."
  })
}).annotate({ identifier: "DeliveryAttempt" })
export type DeliveryAttempt = typeof DeliveryAttempt.Type

export const NotificationDeliveryDetail = Schema.Struct({
  ...fields,
  attempts: Schema.Array(DeliveryAttempt).annotate({
    description: "All attempts, oldest first."
  })
}).annotate({
  identifier: "NotificationDeliveryDetail",
  description: "A delivery with all its attempts, oldest first.",
  examples: [
    {
      ...example,
      attempts: [
        {
          number: 1,
          started_at: "2026-01-31T09:30:00.022Z",
          finished_at: "2026-01-31T09:30:00.153Z",
          status_code: 200,
          response_body: "ok",
          error: null
        }
      ]
    }
  ]
})
export type NotificationDeliveryDetail = typeof NotificationDeliveryDetail.Type

export const DeliveryFilters = {
  channel_id: Schema.optionalKey(NotificationChannelId),
  kind: Schema.optionalKey(DeliveryKind),
  status: Schema.optionalKey(DeliveryStatus)
}
