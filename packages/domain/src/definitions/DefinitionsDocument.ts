import { Schema, Struct } from "effect"
import type { Scope } from "../api-keys/Scope.ts"
import { ChainDefinition } from "../chains/Chain.ts"
import { CronTaskDefinition } from "../cron/CronTask.ts"
import { DelayedTaskDefinition } from "../delayed/DelayedTask.ts"
import { HeartbeatMonitorDefinition } from "../monitors/heartbeat/HeartbeatMonitor.ts"
import { ProcessMonitorDefinition } from "../monitors/process/ProcessMonitor.ts"
import { SslMonitorDefinition } from "../monitors/ssl/SslMonitor.ts"
import { NotificationChannelDefinition } from "../notifications/NotificationChannel.ts"
import { NotificationSettingsInput } from "../notifications/NotificationSettings.ts"
import { QueueDefinition } from "../queues/Queue.ts"
import { Schedule } from "../schedules/Schedule.ts"
import { type KeyedKind, OwnKey } from "../shared/requests/OwnKey.ts"
import { ignored } from "../shared/requests/putBody.ts"
import { whenAbsent } from "../shared/requests/whenAbsent.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"

/** How many records one document may define. */
export const maxDefinitions = 1_000

/** The definitions of a document, in the order in which they are applied. */
export const sections = ["queues", "channels", "tasks", "delayed", "chains", "monitors"] as const
export type Section = (typeof sections)[number]

/** A part of a document. The settings are one record. */
export type DocumentSection = Section | "notification_settings"

/** The settings of a workspace as they stand in a document. Their version does not matter there. */
const SettingsDefinition = NotificationSettingsInput.mapFields(
  Struct.assign({ version: ignored })
).annotate({
  identifier: "NotificationSettingsDefinition",
  description: "The notification settings. Fields that only answers have are ignored.",
  examples: [{ rules: [{ events: ["execution.failed"], channel_keys: ["operations"] }] }]
})

/** What may be defined in a document: the kinds of records with keys, and the settings. */
export type DefinedKind = KeyedKind | "notification_settings"

/** The schema of the definition of each kind, without its key. Adding a kind here adds it to documents. */
export const definitionOfKind = {
  queue: QueueDefinition,
  notification_channel: NotificationChannelDefinition,
  cron: CronTaskDefinition,
  delayed: DelayedTaskDefinition,
  chain: ChainDefinition,
  heartbeat: HeartbeatMonitorDefinition,
  ssl: SslMonitorDefinition,
  process: ProcessMonitorDefinition,
  notification_settings: SettingsDefinition
} as const satisfies Readonly<Record<DefinedKind, Schema.Top>>

/** The section in which a record of each kind stands. */
export const sectionOfKind = {
  queue: "queues",
  notification_channel: "channels",
  cron: "tasks",
  delayed: "delayed",
  chain: "chains",
  heartbeat: "monitors",
  ssl: "monitors",
  process: "monitors"
} as const satisfies Readonly<Record<KeyedKind, Section>>

export const readScopes = ["tasks:read", "monitors:read", "notifications:read"] as const

export const writeScopes = ["tasks:write", "monitors:write", "notifications:write"] as const

const families = {
  queues: "tasks",
  channels: "notifications",
  tasks: "tasks",
  delayed: "tasks",
  chains: "tasks",
  monitors: "monitors",
  notification_settings: "notifications"
} as const

/** The scope that an API key needs for a section of a document. */
export const scopeOfSection = (
  section: DocumentSection,
  access: "read" | "write"
): Scope => `${families[section]}:${access}`

const keyed = { key: OwnKey, version: ignored }

// The definitions refuse what contradicts itself, whatever further fields they have.
const preserving = { unsafePreserveChecks: true }

const QueueItem = QueueDefinition.mapFields(Struct.assign(keyed), preserving).annotate({
  identifier: "QueueInDocument",
  examples: [{ key: "billing", name: "Billing server", max_concurrency: 2 }]
})

const ChannelItem = NotificationChannelDefinition.mapFields(
  Struct.assign(keyed),
  preserving
).annotate({
  identifier: "ChannelInDocument",
  examples: [
    {
      key: "operations",
      name: "Operations",
      kind: "slack",
      config: { url: "{{ secrets.SLACK_URL }}" }
    }
  ]
})

const exampleTask = {
  key: "reports:nightly",
  name: "Nightly report",
  schedule: Schedule.make("0 3 * * *"),
  url: "https://api.example.com/jobs/nightly"
}

const TaskItem = CronTaskDefinition.mapFields(Struct.assign(keyed), preserving).annotate({
  identifier: "CronTaskInDocument",
  examples: [exampleTask]
})

// A delay would begin anew with each application of the document.
const DelayedItem = DelayedTaskDefinition.mapFields(
  (fields) => Struct.assign(Struct.omit(fields, ["delay_seconds"]), keyed),
  preserving
).annotate({
  identifier: "DelayedTaskInDocument",
  description: "A delayed task needs `run_at`, because a delay would begin anew each time.",
  examples: [
    { key: "trial:ada", url: "https://api.example.com/trials/ended", run_at: "2026-12-01T09:00:00.000Z" }
  ]
})

const ChainItem = ChainDefinition.mapFields(Struct.assign(keyed), preserving).annotate({
  identifier: "ChainInDocument",
  examples: [
    {
      key: "day:close",
      name: "Close the day",
      steps: [{ name: "close", url: "https://api.example.com/days/today/close" }]
    }
  ]
})

const HeartbeatItem = HeartbeatMonitorDefinition.mapFields(
  Struct.assign({ kind: Schema.Literal("heartbeat"), ...keyed }),
  preserving
).annotate({
  identifier: "HeartbeatMonitorInDocument",
  examples: [{ kind: "heartbeat", key: "backups:nightly", name: "Backup", period_seconds: 86_400 }]
})

const SslItem = SslMonitorDefinition.mapFields(
  Struct.assign({ kind: Schema.Literal("ssl"), ...keyed }),
  preserving
).annotate({
  identifier: "SslMonitorInDocument",
  examples: [{ kind: "ssl", key: "www", name: "Website", host: "www.example.com" }]
})

const ProcessItem = ProcessMonitorDefinition.mapFields(
  Struct.assign({ kind: Schema.Literal("process"), ...keyed }),
  preserving
).annotate({
  identifier: "ProcessMonitorInDocument",
  examples: [
    {
      kind: "process",
      key: "database",
      name: "Database",
      labels: ["database"],
      match: { name: "postgres" }
    }
  ]
})

interface Item {
  readonly key: string
  readonly kind?: unknown
}

/** Monitors have keys of their own for each kind, but channels have the same for all. */
const keysAreUnique = (isByKind: boolean) =>
  Schema.makeFilter<ReadonlyArray<Item>>((items) => {
    const known = new Set<string>()
    return items.flatMap(({ key, kind }, index) => {
      const name = isByKind ? `${String(kind)} ${key}` : key
      if (!known.has(name)) {
        known.add(name)
        return []
      }
      const problem = { path: [index, "key"], code: "duplicate", problem: "is used before" } as const
      return [filterIssue(problem)]
    })
  })

const sectionOf = <S extends Schema.Codec<Item, unknown>>(
  item: S,
  what: string,
  isByKind = false
) =>
  Schema.optionalKey(
    Schema.Array(item)
      .check(Schema.isMaxLength(maxDefinitions), keysAreUnique(isByKind))
      .annotate({ description: `The ${what}, each with its key.` })
  )

const Owner = OwnKey.annotate({
  description:
    "A label of your own for all that the document defines, such as the name of its repository.",
  examples: ["billing"]
})

const content = {
  queues: sectionOf(QueueItem, "queues"),
  channels: sectionOf(ChannelItem, "notification channels"),
  tasks: sectionOf(TaskItem, "cron tasks"),
  delayed: sectionOf(DelayedItem, "delayed tasks"),
  chains: sectionOf(ChainItem, "chains"),
  monitors: sectionOf(
    Schema.Union([HeartbeatItem, SslItem, ProcessItem]),
    "monitors of all kinds",
    true
  )
}

export const DefinitionsDocument = Schema.Struct({
  version: Schema.Literal(1).annotate({ description: "The version of this format." }),
  owner: whenAbsent(
    "None",
    Schema.NullOr(Owner).annotate({
      description:
        "A label of your own for all that the document defines, such as the name of its " +
        "repository. With `prune` what has the label and is not in the document is deleted. A " +
        "record of another owner is not changed."
    })
  ),
  ...content,
  notification_settings: Schema.optionalKey(SettingsDefinition),
  without_key: ignored
})
  .check(
    Schema.makeFilter((document) => {
      const count = sections.reduce((sum, name) => sum + (document[name]?.length ?? 0), 0)
      return count > maxDefinitions
        ? filterIssue({
            path: [],
            code: "too_many",
            problem: `must define at most ${maxDefinitions} records in all: split it`
          })
        : undefined
    })
  )
  .annotate({
    identifier: "DefinitionsDocument",
    description:
      "Definitions of the records of a workspace, by their keys. References to other records are " +
      "keys, too: `queue_key`, `channel_keys`, `task_keys`, `monitor_keys`.",
    examples: [{ version: 1, owner: "billing", tasks: [exampleTask] }]
  })
export type DefinitionsDocument = typeof DefinitionsDocument.Type

/** The document as it is exported, where every section that may be read is present. */
export const ExportedDefinitions = Schema.Struct({
  version: Schema.Literal(1).annotate({ description: "The version of this format." }),
  owner: Schema.NullOr(Owner).annotate({
    description: "The owner that was asked for. Null if all records are shown."
  }),
  ...content,
  notification_settings: Schema.optionalKey(SettingsDefinition),
  without_key: Schema.Int.annotate({
    description:
      "How many records have no key, and so are not in the document. Ignored when the document is applied."
  })
}).annotate({
  identifier: "ExportedDefinitions",
  description:
    "The definitions without what they have by default. Secrets and headers with credentials are " +
    "masked; they keep their values when the document is applied to the same workspace.",
  examples: [{ version: 1, owner: "billing", tasks: [exampleTask], without_key: 0 }]
})
export type ExportedDefinitions = typeof ExportedDefinitions.Type
