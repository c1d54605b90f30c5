import { Schema } from "effect"
import { TimeZone } from "../schedules/TimeZone.ts"
import { TaskId } from "../executions/Execution.ts"
import { NotificationChannelId, SubjectId } from "../shared/Ids.ts"
import { OwnKey } from "../shared/requests/OwnKey.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"
import { label } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { NotificationEvent, notificationEvents } from "./NotificationEvent.ts"

/** The default settings of a workspace. */
export const settingsDefaults = {
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

/** A list of ids or keys in a rule. Null means no list, because responses show null. */
const given = <S extends Schema.Top>(item: S, max: number, description: string, min = 1) =>
  Schema.optionalKey(Schema.NullOr(listOf(item, max, min)).annotate({ description }))

/** A list of keys. Responses show an empty list if none of the records has a key. */
const givenKeys = (max: number, description: string) => given(OwnKey, max, description, 0)

const exampleChannel = NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41")

type List = ReadonlyArray<string> | null

/** An empty list of keys is allowed only next to ids, as in responses. */
const recordsAreNamed = Schema.makeFilter<{
  readonly [Name in `${keyof typeof maxOfRule}_${"ids" | "keys"}`]?: List
}>((rule) =>
  [
    ...(rule.channel_ids == null && rule.channel_keys == null
      ? [
          {
            path: ["channel_ids"],
            code: "required",
            problem: "is required, or channel_keys"
          } as const
        ]
      : []),
    ...(["channel", "task", "monitor"] as const)
      .filter((name) => rule[`${name}_ids`] == null && rule[`${name}_keys`]?.length === 0)
      .map((name) => ({
        path: [`${name}_keys`],
        code: "too_few" as const,
        problem: `must name a record, unless ${name}_ids does`
      }))
  ].map(filterIssue)
)

const bothGiven = "If both are given, each key must belong to a record named by an id."

export const NotificationRuleInput = Schema.Struct({
  events,
  channel_ids: given(NotificationChannelId, maxOfRule.channel, "The channels to notify."),
  channel_keys: givenKeys(
    maxOfRule.channel,
    `The keys of the channels, instead of \`channel_ids\`. ${bothGiven}`
  ),
  tags: given(
    label(50),
    20,
    "Restricts the rule to records with one of these tags. Absent or null: no restriction."
  ),
  task_ids: given(
    TaskId,
    maxOfRule.task,
    "Restricts the rule to these tasks and chains. Absent or null: no restriction."
  ),
  task_keys: givenKeys(
    maxOfRule.task,
    `The keys of the tasks and chains, instead of \`task_ids\`. ${bothGiven}`
  ),
  monitor_ids: given(
    SubjectId,
    maxOfRule.monitor,
    "Restricts the rule to these monitors. Absent or null: no restriction."
  ),
  monitor_keys: givenKeys(
    maxOfRule.monitor,
    `The keys of the monitors, instead of \`monitor_ids\`. ${bothGiven}`
  )
})
  .check(recordsAreNamed)
  .annotate({
    identifier: "NotificationRuleInput",
    description:
      "Selects the channels that are notified of some events. A rule with only tasks excludes monitors, and " +
      "a rule with only monitors excludes tasks. A key that is used by several kinds of records selects all of " +
      "them.",
    examples: [{ events: ["execution.failed", "task.recovered"], channel_keys: ["operations"] }]
  })
export type NotificationRuleInput = typeof NotificationRuleInput.Type

const keysOf = (what: string) =>
  Schema.Array(Schema.String).annotate({
    description: `The keys of the ${what}. Records without a key are omitted.`
  })

const ruleExample = {
  events: ["execution.failed", "task.recovered"],
  channel_ids: [exampleChannel],
  channel_keys: ["operations"],
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
  channel_keys: keysOf("channels"),
  tags: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "Restricts the rule to records with one of these tags. Null: no restriction."
  }),
  task_ids: Schema.NullOr(Schema.Array(TaskId)).annotate({
    description: "Restricts the rule to these tasks and chains. Null: no restriction."
  }),
  task_keys: Schema.NullOr(keysOf("tasks")).annotate({
    description:
      "The keys of the tasks and chains. Records without a key are omitted. Null: no restriction."
  }),
  monitor_ids: Schema.NullOr(Schema.Array(SubjectId)).annotate({
    description: "Restricts the rule to these monitors. Null: no restriction."
  }),
  monitor_keys: Schema.NullOr(keysOf("monitors")).annotate({
    description:
      "The keys of the monitors. Records without a key are omitted. Null: no restriction."
  })
}).annotate({
  identifier: "NotificationRule",
  description:
    "Selects the channels that are notified of some events. A rule with only `task_ids` excludes monitors, " +
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
    "For how many seconds events are collected into one message. The first message is sent immediately. Later events " +
    "are collected for a tenth of this time at first, and twice as long each time. Defaults to " +
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
  updated_at: Schema.NullOr(Timestamp).annotate({
    description: "When the settings were last changed. Null if never."
  })
}).annotate({
  identifier: "NotificationSettings",
  examples: [
    {
      version: 1,
      rules: [ruleExample],
      ...settingsDefaults,
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
  description: "A response may be sent back. Fields that only responses have are ignored.",
  examples: [{ version: 0, rules: [] }]
})
export type NotificationSettingsInput = typeof NotificationSettingsInput.Type
