import { Schema } from "effect"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { EscalationPolicyId, NotificationChannelId, UserId, WorkspaceId } from "../shared/Ids.ts"
import { keysOfRecords, referencedKeys } from "../shared/requests/CallerChosenKey.ts"
import { Page } from "../shared/requests/Page.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { label } from "../shared/Text.ts"
import { createdAt, updatedAt } from "../shared/Timestamp.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"

/** The maximum number of escalation policies per workspace. */
export const maxEscalationPolicies = 20
/** An escalation policy's default values. An export omits fields that have their default value. */
export const escalationDefaults = { repeat_count: 0, repeat_after_seconds: 1_800 } as const
/** An escalation step's default values. An export omits fields that have their default value. */
export const escalationStepDefaults = {
  channel_ids: [],
  channel_keys: [],
  member_ids: []
} as const

const maxRecipients = 20

const name = { description: "The display name.", examples: ["On call"] }
const afterSeconds = {
  description:
    "The delay after the previous step, in seconds. For the first step, the delay after the incident opened.",
  examples: [300]
}
const channelIds = { description: "The channels that the step notifies." }
const memberIds = {
  description:
    "The members whom the step notifies, by mail to their verified addresses. A member who has left is not notified."
}
const repeatCount = {
  description: "How many times the steps are repeated after the last one.",
  examples: [2]
}
const repeatAfterSeconds = {
  description:
    "The delay between the last step and the repeated first step, in seconds. The other steps follow as in the first round.",
  examples: [1_800]
}

const exampleChannel = NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42")
const exampleMember = UserId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43")

export const EscalationStep = Schema.Struct({
  after_seconds: Schema.Int.annotate(afterSeconds),
  channel_ids: Schema.Array(NotificationChannelId).annotate(channelIds),
  channel_keys: keysOfRecords("channels"),
  member_ids: Schema.Array(UserId).annotate(memberIds)
}).annotate({
  identifier: "EscalationStep",
  description:
    "Whom to notify if nobody has acknowledged the incident by the time the step is due.",
  examples: [
    {
      after_seconds: 300,
      channel_ids: [exampleChannel],
      channel_keys: ["operations"],
      member_ids: [exampleMember]
    }
  ]
})
export type EscalationStep = typeof EscalationStep.Type

export const EscalationPolicy = Schema.Struct({
  id: EscalationPolicyId,
  key: Schema.String.annotate({ description: "The key in the path.", examples: ["on-call"] }),
  workspace_id: WorkspaceId,
  ...versionField,
  name: Schema.String.annotate(name),
  steps: Schema.Array(EscalationStep).annotate({ description: "The steps, in order." }),
  repeat_count: Schema.Int.annotate(repeatCount),
  repeat_after_seconds: Schema.Int.annotate(repeatAfterSeconds),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "EscalationPolicy",
  description: "Whom to notify of an incident, step by step, until somebody acknowledges it.",
  examples: [
    {
      id: EscalationPolicyId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      key: "on-call",
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      version: 1,
      name: "On call",
      steps: [
        {
          after_seconds: 0,
          channel_ids: [exampleChannel],
          channel_keys: ["operations"],
          member_ids: []
        },
        { after_seconds: 300, channel_ids: [], channel_keys: [], member_ids: [exampleMember] }
      ],
      ...escalationDefaults,
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type EscalationPolicy = typeof EscalationPolicy.Type

const recipients = ["channel_ids", "channel_keys", "member_ids"] as const

const notifiesSomebody = Schema.makeFilter<{
  readonly [Name in (typeof recipients)[number]]?: ReadonlyArray<string>
}>((step) =>
  recipients.some((field) => (step[field] ?? []).length > 0)
    ? undefined
    : filterIssue({
        path: ["channel_ids"],
        code: "required",
        problem: "is required, unless channel_keys or member_ids are given"
      })
)

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const EscalationStepInput = Schema.Struct({
  after_seconds: between(0, 86_400).annotate(afterSeconds),
  channel_ids: optionalWithDefault(
    "None",
    Schema.Array(NotificationChannelId)
      .check(Schema.isMaxLength(maxRecipients), Schema.isUnique())
      .annotate(channelIds)
  ),
  channel_keys: referencedKeys("channels", "channel_ids", maxRecipients),
  member_ids: optionalWithDefault(
    "None",
    Schema.Array(UserId)
      .check(Schema.isMaxLength(maxRecipients), Schema.isUnique())
      .annotate(memberIds)
  )
})
  .check(notifiesSomebody)
  .annotate({
    identifier: "EscalationStepInput",
    description: "A step notifies channels, members or both.",
    examples: [{ after_seconds: 300, channel_keys: ["operations"] }]
  })
export type EscalationStepInput = typeof EscalationStepInput.Type

export const EscalationPolicyDefinition = Schema.Struct(
  putFields(
    {
      name: label(100, name),
      steps: Schema.Array(EscalationStepInput)
        .check(Schema.isMinLength(1), Schema.isMaxLength(10))
        .annotate({ description: "The steps, in order." }),
      repeat_count: optionalWithDefault("0", between(0, 9).annotate(repeatCount)),
      repeat_after_seconds: optionalWithDefault(
        "1800",
        between(300, 86_400).annotate(repeatAfterSeconds)
      ),
      ...versionInput
    },
    EscalationPolicy
  )
).annotate({
  identifier: "EscalationPolicyDefinition",
  description:
    "An escalation policy whose key is in the path. Absent fields get their defaults. Fields that only " +
    "responses have are ignored.",
  examples: [
    {
      name: "On call",
      steps: [
        { after_seconds: 0, channel_ids: [exampleChannel] },
        { after_seconds: 300, member_ids: [exampleMember] }
      ],
      repeat_count: 2
    }
  ]
})
export type EscalationPolicyDefinition = typeof EscalationPolicyDefinition.Type

export const EscalationPolicyList = Page("EscalationPolicyList", EscalationPolicy)
