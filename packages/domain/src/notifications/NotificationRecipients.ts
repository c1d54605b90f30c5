import { Schema, Struct } from "effect"
import { EscalationPolicy, EscalationStep } from "../escalations/EscalationPolicy.ts"
import { EscalationPolicyId, NotificationChannelId, SubjectId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { label } from "../shared/Text.ts"
import { NotificationChannel } from "./NotificationChannel.ts"
import { type ProblemEvent, recoveryOfProblem } from "./NotificationEvent.ts"

export const RecipientsQuery = {
  event: oneOf(Struct.keys(recoveryOfProblem) as [ProblemEvent, ...Array<ProblemEvent>], {
    identifier: "ProblemEvent",
    description: "The event that starts the problem.",
    examples: ["execution.failed"]
  }),
  subject_id: Schema.optionalKey(
    SubjectId.annotate({
      description:
        "The task, monitor or worker that the event would be about. Absent: a record that no rule names."
    })
  ),
  tag: Schema.optionalKey(
    Schema.Array(label(50, { examples: ["billing"] }))
      .check(Schema.isMinLength(1), Schema.isMaxLength(20))
      .annotate({ description: "The tags of the record. Absent: none." })
  )
}

export const NotificationRecipient = Schema.Struct(
  Struct.pick(NotificationChannel.fields, [
    "id",
    "key",
    "name",
    "kind",
    "paused",
    "paused_reason",
    "confirmed",
    "last_delivery"
  ])
).annotate({
  identifier: "NotificationRecipient",
  description:
    "A channel that would be notified. Nothing is sent to it while it is paused or not confirmed.",
  examples: [
    {
      id: NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      key: "operations",
      name: "Operations",
      kind: "slack",
      paused: false,
      paused_reason: null,
      confirmed: true,
      last_delivery: { at: "2026-01-31T09:30:00.000Z", delivered: true, error: null }
    }
  ]
})
export type NotificationRecipient = typeof NotificationRecipient.Type

const RecipientsStep = Schema.Struct({
  after_seconds: EscalationStep.fields.after_seconds,
  channels: Schema.Array(NotificationRecipient).annotate({
    description:
      "The channels that the step notifies, and an email channel of each of its members. Empty if none " +
      "of its members has a verified address."
  })
}).annotate({ identifier: "RecipientsStep" })

const RecipientsPolicy = Schema.Struct({
  id: EscalationPolicyId,
  ...Struct.pick(EscalationPolicy.fields, ["key", "name", "repeat_count", "repeat_after_seconds"]),
  steps: Schema.Array(RecipientsStep).annotate({ description: "The steps, in order." })
}).annotate({ identifier: "RecipientsPolicy" })

export const NotificationRecipients = Schema.Struct({
  channels: Schema.Array(NotificationRecipient).annotate({
    description: "The channels that rules name. They are notified when the problem starts."
  }),
  escalations: Schema.Array(RecipientsPolicy).annotate({
    description:
      "The escalation policies that rules name. Their steps begin when the problem starts."
  })
}).annotate({
  identifier: "NotificationRecipients",
  description: "Who would be notified of a problem."
})
export type NotificationRecipients = typeof NotificationRecipients.Type
