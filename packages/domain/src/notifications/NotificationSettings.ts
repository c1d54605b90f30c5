import { Schema } from "effect"
import { TimeZone } from "../schedules/TimeZone.ts"
import { TaskId } from "../executions/Execution.ts"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { EscalationPolicyId, NotificationChannelId, SubjectId } from "../shared/Ids.ts"
import { keysOfRecords, CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"
import { label } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { NotificationEvent, notificationEvents } from "./NotificationEvent.ts"

/** A workspace's default notification settings. */
export const notificationSettingsDefaults = {
  task_failure_threshold: 1,
  remind_every_seconds: null,
  quiet_hours: null,
  group_seconds: 10
} as const

const listOf = <S extends Schema.Top>(item: S, max: number, min = 1) =>
  Schema.Array(item).check(Schema.isMinLength(min), Schema.isMaxLength(max))

const events = listOf(NotificationEvent, notificationEvents.length).annotate({
  description: "The events that the rule applies to."
})

const maxOfRule = { channel: 20, task: 50, monitor: 50 } as const

/**
 * An optional list of ids or keys in a rule. Null means no list, because responses have null there.
 */
const optionalList = <S extends Schema.Top>(item: S, max: number, description: string, min = 1) =>
  Schema.optionalKey(Schema.NullOr(listOf(item, max, min)).annotate({ description }))

/**
 * An optional list of keys. It may be empty, because responses have an empty list if none of the
 * records has a key.
 */
const optionalKeyList = (max: number, description: string) =>
  optionalList(CallerChosenKey, max, description, 0)

const exampleChannel = NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41")

type List = ReadonlyArray<string> | null

/**
 * Requires that a rule names records. An empty list of keys is allowed only next to ids, as in
 * responses.
 */
const recordsAreNamed = Schema.makeFilter<
  {
    readonly [Name in `${keyof typeof maxOfRule}_${"ids" | "keys"}`]?: List
  } & { readonly escalation_id?: string | null; readonly escalation_key?: string | null }
>((rule) => {
  const escalates = rule.escalation_id != null || rule.escalation_key != null
  const lists = [rule.channel_ids, rule.channel_keys]
  return [
    ...(!escalates && lists.every((list) => list == null)
      ? [
          {
            path: ["channel_ids"],
            code: "required",
            problem: "is required, unless channel_keys or an escalation policy is given"
          } as const
        ]
      : []),
    ...(!escalates && rule.channel_ids?.length === 0
      ? [{ path: ["channel_ids"], code: "too_few", problem: "must name a channel" } as const]
      : []),
    ...(["channel", "task", "monitor"] as const)
      .filter((name) => name !== "channel" || !escalates)
      .filter((name) => rule[`${name}_ids`] == null && rule[`${name}_keys`]?.length === 0)
      .map((name) => ({
        path: [`${name}_keys`],
        code: "too_few" as const,
        problem: `must name a record, unless ${name}_ids does`
      }))
  ].map(filterIssue)
})

const bothGiven = "If both are given, each key must belong to a record named by an id."

const escalationDescription =
  "The escalation policy that notifies people step by step, instead of channels or in addition to them. Events that do not start a problem are sent only to its first step. Null or absent: none."

export const NotificationRuleInput = Schema.Struct({
  events,
  channel_ids: optionalList(NotificationChannelId, maxOfRule.channel, "The channels to notify.", 0),
  channel_keys: optionalKeyList(
    maxOfRule.channel,
    `The keys of the channels, instead of \`channel_ids\`. ${bothGiven}`
  ),
  escalation_id: Schema.optionalKey(
    Schema.NullOr(EscalationPolicyId).annotate({ description: escalationDescription })
  ),
  escalation_key: Schema.optionalKey(
    Schema.NullOr(CallerChosenKey).annotate({
      description: "The key of the escalation policy, instead of `escalation_id`."
    })
  ),
  tags: optionalList(
    label(50),
    20,
    "Restricts the rule to records with one of these tags. Absent or null: no restriction."
  ),
  task_ids: optionalList(
    TaskId,
    maxOfRule.task,
    "Restricts the rule to these tasks and chains. Absent or null: no restriction."
  ),
  task_keys: optionalKeyList(
    maxOfRule.task,
    `The keys of the tasks and chains, instead of \`task_ids\`. ${bothGiven}`
  ),
  monitor_ids: optionalList(
    SubjectId,
    maxOfRule.monitor,
    "Restricts the rule to these monitors. Absent or null: no restriction."
  ),
  monitor_keys: optionalKeyList(
    maxOfRule.monitor,
    `The keys of the monitors, instead of \`monitor_ids\`. ${bothGiven}`
  )
})
  .check(recordsAreNamed)
  .annotate({
    identifier: "NotificationRuleInput",
    description:
      "Specifies which channels or which escalation policy to notify of which events. A rule with only tasks excludes monitors, and " +
      "a rule with only monitors excludes tasks. A key that is used by several kinds of records selects all of " +
      "them.",
    examples: [{ events: ["execution.failed", "task.recovered"], channel_keys: ["operations"] }]
  })
export type NotificationRuleInput = typeof NotificationRuleInput.Type

const ruleExample = {
  events: ["execution.failed", "task.recovered"],
  channel_ids: [exampleChannel],
  channel_keys: ["operations"],
  escalation_id: null,
  escalation_key: null,
  tags: null,
  task_ids: null,
  task_keys: null,
  monitor_ids: null,
  monitor_keys: null
} as const

export const NotificationRule = Schema.Struct({
  events,
  channel_ids: Schema.Array(NotificationChannelId).annotate({
    description: "The channels to notify."
  }),
  channel_keys: keysOfRecords("channels"),
  escalation_id: Schema.NullOr(EscalationPolicyId).annotate({ description: escalationDescription }),
  escalation_key: Schema.NullOr(Schema.String).annotate({
    description: "The key of the escalation policy. Null: none."
  }),
  tags: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "Restricts the rule to records with one of these tags. Null: no restriction."
  }),
  task_ids: Schema.NullOr(Schema.Array(TaskId)).annotate({
    description: "Restricts the rule to these tasks and chains. Null: no restriction."
  }),
  task_keys: Schema.NullOr(keysOfRecords("tasks")).annotate({
    description:
      "The keys of the tasks and chains. Records without a key are omitted. Null: no restriction."
  }),
  monitor_ids: Schema.NullOr(Schema.Array(SubjectId)).annotate({
    description: "Restricts the rule to these monitors. Null: no restriction."
  }),
  monitor_keys: Schema.NullOr(keysOfRecords("monitors")).annotate({
    description:
      "The keys of the monitors. Records without a key are omitted. Null: no restriction."
  })
}).annotate({
  identifier: "NotificationRule",
  description:
    "Specifies which channels or which escalation policy to notify of which events. A rule with only `task_ids` excludes monitors, " +
    "and a rule with only `monitor_ids` excludes tasks.",
  examples: [ruleExample]
})
export type NotificationRule = typeof NotificationRule.Type

const ClockTime = Schema.String.check(
  Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { expected: "a time of the day such as 22:00" })
).annotate({ examples: ["22:00"] })

export const QuietHours = Schema.Struct({
  timezone: TimeZone,
  from: ClockTime.annotate({ description: "When quiet hours start." }),
  to: ClockTime.annotate({
    description: "When quiet hours end, on the next day if this is earlier than `from`."
  })
})
  .check(
    Schema.makeFilter(({ from, to }) => from !== to, {
      expected: "`from` and `to` to differ"
    })
  )
  .annotate({
    identifier: "QuietHours",
    description:
      "Messages between `from` and `to` are held and sent as one message when quiet hours end.",
    examples: [{ timezone: TimeZone.make("Europe/Berlin"), from: "22:00", to: "07:00" }]
  })
export type QuietHours = typeof QuietHours.Type

const rulesOf = <S extends Schema.Top>(rule: S) =>
  Schema.Array(rule)
    .check(Schema.isMaxLength(20))
    .annotate({ description: "If several rules apply to an event, each channel is notified once." })

const threshold = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
  description:
    "The number of consecutive failures of a cron task or a chain before channels are notified. Defaults to " +
    "1. A delayed task runs once, so its failure notifies immediately.",
  examples: [1]
})

const remindEvery = Schema.NullOr(
  Schema.Int.check(Schema.isBetween({ minimum: 3_600, maximum: 604_800 }))
).annotate({
  description:
    "The interval of reminders about an ongoing problem, in seconds. Null or absent: no reminders.",
  examples: [86_400]
})

const quietHours = Schema.NullOr(QuietHours).annotate({
  description: "When messages are held. Null or absent: never."
})

const groupSeconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 300 })).annotate({
  description:
    "How long events are collected into one message, in seconds. The first message is sent immediately. Later events are at first collected for a tenth of this time, which doubles with each message. Defaults to " +
    "10.",
  examples: [10]
})

const version = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

export const NotificationSettings = Schema.Struct({
  version: version.annotate({
    description: "Increases with each change. 0 if the settings were never changed."
  }),
  rules: rulesOf(NotificationRule),
  task_failure_threshold: threshold,
  remind_every_seconds: remindEvery,
  quiet_hours: quietHours,
  group_seconds: groupSeconds,
  updated_by: authorFields.updated_by,
  updated_at: Schema.NullOr(Timestamp).annotate({
    description: "When the settings were last changed. Null if never."
  })
}).annotate({
  identifier: "NotificationSettings",
  examples: [
    {
      version: 1,
      rules: [ruleExample],
      ...notificationSettingsDefaults,
      updated_by: exampleAuthors.updated_by,
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type NotificationSettings = typeof NotificationSettings.Type

export const NotificationSettingsInput = Schema.Struct(
  putFields(
    {
      version: version.annotate({
        description:
          "The version that you read. If the settings have changed since, the response is 412 `stale`.",
        examples: [1]
      }),
      rules: rulesOf(NotificationRuleInput),
      task_failure_threshold: Schema.optionalKey(threshold),
      remind_every_seconds: Schema.optionalKey(remindEvery),
      quiet_hours: Schema.optionalKey(quietHours),
      group_seconds: Schema.optionalKey(groupSeconds)
    },
    NotificationSettings
  )
).annotate({
  identifier: "NotificationSettingsInput",
  description: "You can send back a response. Fields that only responses have are ignored.",
  examples: [{ version: 0, rules: [] }]
})
export type NotificationSettingsInput = typeof NotificationSettingsInput.Type
