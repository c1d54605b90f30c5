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

/** What a workspace has where nothing else is said. */
export const settingsDefaults = {
  task_failure_threshold: 1,
  remind_every_seconds: null,
  quiet_hours: null,
  group_seconds: 10
} as const

const listOf = <S extends Schema.Top>(item: S, max: number, min = 1) =>
  Schema.Array(item).check(Schema.isMinLength(min), Schema.isMaxLength(max))

const events = listOf(NotificationEvent, notificationEvents.length).annotate({
  description: "The events that the rule is about."
})

const maxOfRule = { channel: 20, task: 50, monitor: 50 } as const

/** A list of ids or keys that a rule may have. Null is the same as none, because answers show it. */
const given = <S extends Schema.Top>(item: S, max: number, description: string, min = 1) =>
  Schema.optionalKey(Schema.NullOr(listOf(item, max, min)).annotate({ description }))

/** A list of keys. It is empty in answers if none of the records has a key. */
const givenKeys = (max: number, description: string) => given(OwnKey, max, description, 0)

const exampleChannel = NotificationChannelId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41")

type List = ReadonlyArray<string> | null

/** Keys that name nothing are allowed only beside ids, as answers show them. */
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

const bothGiven = "If both are given, the keys must be those of records that the ids name."

export const NotificationRuleInput = Schema.Struct({
  events,
  channel_ids: given(NotificationChannelId, maxOfRule.channel, "The channels that are notified."),
  channel_keys: givenKeys(
    maxOfRule.channel,
    `The keys of the channels, in place of \`channel_ids\`. ${bothGiven}`
  ),
  tags: given(label(50), 20, "Only about what has one of these tags. All when absent or null."),
  task_ids: given(
    TaskId,
    maxOfRule.task,
    "Only about these tasks and chains. All when absent or null."
  ),
  task_keys: givenKeys(
    maxOfRule.task,
    `The keys of the tasks and chains, in place of \`task_ids\`. ${bothGiven}`
  ),
  monitor_ids: given(
    SubjectId,
    maxOfRule.monitor,
    "Only about these monitors. All when absent or null."
  ),
  monitor_keys: givenKeys(
    maxOfRule.monitor,
    `The keys of the monitors, in place of \`monitor_ids\`. ${bothGiven}`
  )
})
  .check(recordsAreNamed)
  .annotate({
    identifier: "NotificationRuleInput",
    description:
      "Which channels are notified of which events. A rule with tasks alone is about no monitor, and " +
      "one with monitors alone about no task. A key that records of several kinds have names all of " +
      "them.",
    examples: [{ events: ["execution.failed", "task.recovered"], channel_keys: ["operations"] }]
  })
export type NotificationRuleInput = typeof NotificationRuleInput.Type

const keysOf = (what: string) =>
  Schema.Array(Schema.String).annotate({
    description: `The keys of those of the ${what} that have one.`
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
    description: "The channels that are notified."
  }),
  channel_keys: keysOf("channels"),
  tags: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "Only about what has one of these tags. Null: about all."
  }),
  task_ids: Schema.NullOr(Schema.Array(TaskId)).annotate({
    description: "Only about these tasks and chains. Null: about all."
  }),
  task_keys: Schema.NullOr(keysOf("tasks")).annotate({
    description: "The keys of those of the tasks and chains that have one. Null: about all."
  }),
  monitor_ids: Schema.NullOr(Schema.Array(SubjectId)).annotate({
    description: "Only about these monitors. Null: about all."
  }),
  monitor_keys: Schema.NullOr(keysOf("monitors")).annotate({
    description: "The keys of those of the monitors that have one. Null: about all."
  })
}).annotate({
  identifier: "NotificationRule",
  description:
    "Which channels are notified of which events. A rule with `task_ids` alone is about no monitor, " +
    "and one with `monitor_ids` alone about no task.",
  examples: [ruleExample]
})
export type NotificationRule = typeof NotificationRule.Type

const ClockTime = Schema.String.check(
  Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { expected: "a time of the day such as 22:00" })
).annotate({ examples: ["22:00"] })

export const QuietHours = Schema.Struct({
  timezone: TimeZone,
  from: ClockTime.annotate({ description: "When quiet hours begin." }),
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
      "From `from` until `to` messages are held. They are sent as one when quiet hours end.",
    examples: [{ timezone: TimeZone.make("Europe/Berlin"), from: "22:00", to: "07:00" }]
  })
export type QuietHours = typeof QuietHours.Type

const rulesOf = <S extends Schema.Top>(rule: S) =>
  Schema.Array(rule)
    .check(Schema.isMaxLength(20))
    .annotate({ description: "If several rules are about an event, each channel gets it once." })

const threshold = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
  description:
    "How many times in a row a cron task or a chain must fail before channels are notified. 1 " +
    "when absent. A delayed task runs once, and its failure notifies at once.",
  examples: [1]
})

const remindEvery = Schema.NullOr(
  Schema.Int.check(Schema.isBetween({ minimum: 3_600, maximum: 604_800 }))
).annotate({
  description: "How often to remind of a problem that goes on. Never when null or absent.",
  examples: [86_400]
})

const quietHours = Schema.NullOr(QuietHours).annotate({
  description: "When messages are held. Never when null or absent."
})

const groupSeconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 300 })).annotate({
  description:
    "How long events are collected for one message. The first message is sent at once. The events " +
    "after it are collected for a tenth of this time at first, and twice as long each time. 10 " +
    "when absent.",
  examples: [10]
})

const version = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

export const NotificationSettings = Schema.Struct({
  version: version.annotate({
    description: "Grows with each change. 0 where nothing was changed."
  }),
  rules: rulesOf(NotificationRule),
  task_failure_threshold: threshold,
  remind_every_seconds: remindEvery,
  quiet_hours: quietHours,
  group_seconds: groupSeconds,
  updated_at: Schema.NullOr(Timestamp).annotate({
    description: "When they were last changed. Null if never."
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
          "The version that was read. If the settings have another version by now, the answer is 412 `stale`.",
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
  description: "An answer may be sent back. Fields that only answers have are ignored.",
  examples: [{ version: 0, rules: [] }]
})
export type NotificationSettingsInput = typeof NotificationSettingsInput.Type
