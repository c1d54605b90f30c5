import { Schema, Struct } from "effect"
import { callChecks } from "../calls/HttpCall.ts"
import type { Scope } from "../api-keys/Scope.ts"
import { ChainDefinition } from "../chains/Chain.ts"
import { CronTaskDefinition } from "../cron/CronTask.ts"
import { DelayedTaskDefinition } from "../delayed/DelayedTask.ts"
import { HeartbeatMonitorDefinition } from "../monitors/heartbeat/HeartbeatMonitor.ts"
import { HttpMonitorDefinition } from "../monitors/http/HttpMonitor.ts"
import { DnsMonitorDefinition } from "../monitors/dns/DnsMonitor.ts"
import { TcpMonitorDefinition } from "../monitors/tcp/TcpMonitor.ts"
import { ProcessMonitorDefinition } from "../monitors/process/ProcessMonitor.ts"
import { SslMonitorDefinition } from "../monitors/ssl/SslMonitor.ts"
import { NotificationChannelDefinition } from "../notifications/NotificationChannel.ts"
import { NotificationSettingsInput } from "../notifications/NotificationSettings.ts"
import type { MonitorKind } from "../monitors/Monitor.ts"
import { QueueDefinition } from "../queues/Queue.ts"
import { Schedule } from "../schedules/Schedule.ts"
import { type KeyedKind, OwnKey } from "../shared/requests/OwnKey.ts"
import { ignored } from "../shared/requests/putBody.ts"
import { whenAbsent } from "../shared/requests/whenAbsent.ts"
import { timestampInput } from "../shared/Timestamp.ts"
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
  http: HttpMonitorDefinition,
  tcp: TcpMonitorDefinition,
  dns: DnsMonitorDefinition,
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
  process: "monitors",
  http: "monitors",
  tcp: "monitors",
  dns: "monitors"
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
export const scopeOfSection = (section: DocumentSection, access: "read" | "write"): Scope =>
  `${families[section]}:${access}`

/** The fields of a definition without those that only answers have, and without the version. */
const definitionFields = <const Fields extends Schema.Struct.Fields>(fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, field]) => field !== ignored && name !== "version")
  ) as Schema.Struct.Fields as Fields

/** A definition with its key. It refuses what contradicts itself, as the definition does. */
const withKey = <const Fields extends Schema.Struct.Fields>(definition: Schema.Struct<Fields>) =>
  definition.mapFields((fields) => ({ key: OwnKey, ...definitionFields(fields) }), {
    unsafePreserveChecks: true
  })

const monitorOf = <const Kind extends MonitorKind, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  definition: Schema.Struct<Fields>
) =>
  definition.mapFields(
    (fields) => ({
      kind: Schema.Literal(kind).annotate({ description: "The kind of the monitor." }),
      key: OwnKey,
      ...definitionFields(fields)
    }),
    { unsafePreserveChecks: true }
  )

const QueueItem = withKey(QueueDefinition).annotate({
  identifier: "QueueInDocument",
  description: "A queue with its key. An absent limit is none.",
  examples: [{ key: "billing", name: "Billing server", max_concurrency: 2 }]
})

const ChannelItem = withKey(NotificationChannelDefinition).annotate({
  identifier: "ChannelInDocument",
  description: "A channel with its key. A secret may be given as it is shown, and stays then.",
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

const TaskItem = withKey(CronTaskDefinition).annotate({
  identifier: "CronTaskInDocument",
  description: "A cron task with its key. Absent fields get their defaults.",
  examples: [exampleTask]
})

const DelayedItem = DelayedTaskDefinition.mapFields((fields) => ({
  key: OwnKey,
  ...Struct.omit(definitionFields(fields), ["delay_seconds", "run_at"]),
  run_at: timestampInput("When it runs, at most 365 days ahead. A time in the past means now.")
}))
  .check(...callChecks)
  .annotate({
    identifier: "DelayedTaskInDocument",
    description:
      "A delayed task with its key. It has no `delay_seconds`, because a delay would begin anew " +
      "whenever the document is applied.",
    examples: [
      {
        key: "trial:ada",
        url: "https://api.example.com/trials/ended",
        run_at: "2026-12-01T09:00:00.000Z"
      }
    ]
  })

const ChainItem = withKey(ChainDefinition).annotate({
  identifier: "ChainInDocument",
  description: "A chain with its key. Absent fields get their defaults.",
  examples: [
    {
      key: "day:close",
      name: "Close the day",
      steps: [{ name: "close", url: "https://api.example.com/days/today/close" }]
    }
  ]
})

/** The monitors of a document, by kind. Adding a kind here adds it to documents. */
const monitorItems = {
  heartbeat: monitorOf("heartbeat", HeartbeatMonitorDefinition).annotate({
    identifier: "HeartbeatMonitorInDocument",
    description: "A heartbeat monitor with its key. Requires `period_seconds` or `schedule`.",
    examples: [{ kind: "heartbeat", key: "backups", name: "Backup", period_seconds: 86_400 }]
  }),
  ssl: monitorOf("ssl", SslMonitorDefinition).annotate({
    identifier: "SslMonitorInDocument",
    description: "An SSL monitor with its key. Absent fields get their defaults.",
    examples: [{ kind: "ssl", key: "www", name: "Website", host: "www.example.com" }]
  }),
  process: monitorOf("process", ProcessMonitorDefinition).annotate({
    identifier: "ProcessMonitorInDocument",
    description: "A process monitor with its key. Requires `worker_id` or `labels`.",
    examples: [
      {
        kind: "process",
        key: "database",
        name: "Database",
        labels: ["database"],
        match: { name: "postgres" }
      }
    ]
  }),
  http: monitorOf("http", HttpMonitorDefinition).annotate({
    identifier: "HttpMonitorInDocument",
    description: "An HTTP monitor with its key. Absent fields get their defaults.",
    examples: [{ kind: "http", key: "shop", name: "Shop", url: "https://www.example.com/health" }]
  }),
  tcp: monitorOf("tcp", TcpMonitorDefinition).annotate({
    identifier: "TcpMonitorInDocument",
    description: "A TCP monitor with its key. Absent fields get their defaults.",
    examples: [{ kind: "tcp", key: "cache", name: "Cache", host: "cache.example.com", port: 6379 }]
  }),
  dns: monitorOf("dns", DnsMonitorDefinition).annotate({
    identifier: "DnsMonitorInDocument",
    description: "A DNS monitor with its key. Absent fields get their defaults.",
    examples: [{ kind: "dns", key: "records", name: "Records", host: "www.example.com" }]
  })
} as const satisfies Readonly<Record<MonitorKind, Schema.Top>>

const { dns, heartbeat, http, process, ssl, tcp } = monitorItems
const MonitorItem = Schema.Union([heartbeat, ssl, process, http, tcp, dns])

interface Item {
  readonly key: string
  readonly kind?: unknown
}

/** Monitors have keys of their own for each kind, but channels have the same for all. */
const keysAreUnique = (isByKind: boolean) =>
  Schema.makeFilter<ReadonlyArray<Item>>(
    (items) => {
      const known = new Set<string>()
      return items.flatMap(({ key, kind }, index) => {
        const name = isByKind ? `${String(kind)} ${key}` : key
        if (known.has(name)) return [filterIssue({ path: [index, "key"], ...usedBefore })]
        known.add(name)
        return []
      })
    },
    { toJsonSchema: () => ({}) }
  )

const usedBefore = { code: "duplicate", problem: "is used before" } as const

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
  monitors: sectionOf(MonitorItem, "monitors of all kinds", true)
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
