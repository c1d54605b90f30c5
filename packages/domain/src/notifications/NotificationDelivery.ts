import { Schema, Struct } from "effect"
import { Attempt, Execution } from "../executions/Execution.ts"
import { NotificationChannelId, NotificationDeliveryId, SubjectId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { Timestamp, createdAt, finishedAt } from "../shared/Timestamp.ts"
import { notificationKinds } from "./NotificationChannel.ts"
import { DeliveredEvent } from "./NotificationEvent.ts"

/** A message names at most this many events, and gives the number of the others. */
export const maxNamedEvents = 10

export const DeliveryStatus = oneOf(
  ["queued", "sending", "delivered", "failed", "cancelled", "dropped"],
  {
    identifier: "DeliveryStatus",
    description:
      "`queued`: it waits for its time, or for the next attempt. `failed`: the channel refuses it, " +
      "or did not accept it within 24 hours. `cancelled`: its channel was paused or deleted " +
      "first. `dropped`: `events_count` callbacks were due while as many as the plan allows were " +
      "waiting."
  }
)
export type DeliveryStatus = typeof DeliveryStatus.Type

export const DeliveryKind = oneOf([...notificationKinds, "callback"], {
  identifier: "DeliveryKind",
  description:
    "The kind of the channel, or `callback`: to the `on_failure` or `on_success` of a task."
})
export type DeliveryKind = typeof DeliveryKind.Type

export const NotifiedEvent = Schema.Struct({
  type: DeliveredEvent,
  subject_id: SubjectId.annotate({ description: "What it is about: a task, a monitor, a key." }),
  name: Schema.String.annotate({ description: "The name of what it is about." }),
  reason: Schema.NullOr(Schema.String).annotate({ description: "Why, in one line." }),
  at: Timestamp.annotate({ description: "When it happened." })
}).annotate({ identifier: "NotifiedEvent" })
export type NotifiedEvent = typeof NotifiedEvent.Type

const fields = {
  id: NotificationDeliveryId.annotate({
    description:
      "The recipient gets it as `Idempotency-Key`, the same at every attempt. It is also the `id` of " +
      "the event in the body of a webhook or a callback."
  }),
  channel_id: Schema.NullOr(NotificationChannelId).annotate({
    description:
      "The channel, which may be deleted by now. Null for the callbacks of tasks, which go to no " +
      "channel."
  }),
  kind: DeliveryKind,
  status: DeliveryStatus,
  events_count: Schema.Int.annotate({
    description:
      "The number of events in the message. 0 for the mail that asks to confirm an address."
  }),
  events: Schema.Array(NotifiedEvent).annotate({
    description: "The first ten events."
  }),
  ...Struct.pick(Execution.fields, ["attempts_count", "status_code"]),
  error: Schema.NullOr(Schema.String).annotate({ description: "Why the last attempt failed." }),
  next_attempt_at: Schema.NullOr(Timestamp).annotate({
    description: "Null once the delivery is finished."
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

/** One message to one channel or one callback URL. */
export const NotificationDelivery = Schema.Struct(fields).annotate({
  identifier: "NotificationDelivery",
  examples: [example]
})
export type NotificationDelivery = typeof NotificationDelivery.Type

export const NotificationDeliveryPage = Page("NotificationDeliveryPage", NotificationDelivery)

export const DeliveryAttempt = Schema.Struct({
  ...Struct.pick(Attempt.fields, ["number", "started_at", "status_code"]),
  finished_at: Schema.NullOr(Timestamp).annotate({
    description: "Null where the node was lost: how it ended is not known."
  }),
  response_body: Schema.NullOr(Schema.String).annotate({
    description: "The first 1,000 characters of the answer, without secrets of the channel."
  }),
  error: Schema.NullOr(Schema.String).annotate({
    description: "Why it failed. Null if it did not fail."
  })
}).annotate({ identifier: "DeliveryAttempt" })
export type DeliveryAttempt = typeof DeliveryAttempt.Type

export const NotificationDeliveryDetail = Schema.Struct({
  ...fields,
  attempts: Schema.Array(DeliveryAttempt).annotate({
    description: "Every attempt, the first one first."
  })
}).annotate({
  identifier: "NotificationDeliveryDetail",
  description: "A delivery with every attempt, the first one first.",
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
