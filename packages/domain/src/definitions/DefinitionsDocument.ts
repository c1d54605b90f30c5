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
import { EscalationPolicyDefinition } from "../escalations/EscalationPolicy.ts"
import { MaintenanceWindowDefinition } from "../maintenance/MaintenanceWindow.ts"
import { QueueDefinition } from "../queues/Queue.ts"
import { StatusPageDefinition, StatusPageSlug } from "../status-pages/StatusPage.ts"
import { MinuteSchedule, Schedule } from "../schedules/Schedule.ts"
import { type KeyedKind, CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { ignoredField } from "../shared/requests/putBody.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { timestampInput } from "../shared/Timestamp.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"

/** The maximum number of records in one document. */
export const maxDefinitions = 1_000

/** The sections of a document, in the order in which they are applied. */
export const sections = [
  "queues",
  "channels",
  "escalations",
  "tasks",
  "delayed",
  "chains",
  "monitors",
  "maintenance",
  "status_pages"
] as const
export type Section = (typeof sections)[number]

/** A section of a document. The notification settings are one record. */
export type DocumentSection = Section | "notification_settings"

/** The notification settings in a document, where their version is ignored. */
const SettingsDefinition = NotificationSettingsInput.mapFields(
  Struct.assign({ version: ignoredField })
).annotate({
  identifier: "NotificationSettingsDefinition",
  description: "The notification settings. Fields that only responses have are ignored.",
  examples: [{ rules: [{ events: ["execution.failed"], channel_keys: ["operations"] }] }]
})

/** The kinds of records that a document defines by key. A status page's key is its slug. */
export type ListedKind = KeyedKind | "escalation_policy" | "maintenance_window" | "status_page"

/** The kinds of records that a document can define. */
export type DefinedKind = ListedKind | "notification_settings"

/**
 * The definition schema of each kind, without the key. A kind that is added here is supported in
 * documents.
 */
export const definitionOfKind = {
  queue: QueueDefinition,
  notification_channel: NotificationChannelDefinition,
  escalation_policy: EscalationPolicyDefinition,
  cron: CronTaskDefinition,
  delayed: DelayedTaskDefinition,
  chain: ChainDefinition,
  heartbeat: HeartbeatMonitorDefinition,
  ssl: SslMonitorDefinition,
  process: ProcessMonitorDefinition,
  http: HttpMonitorDefinition,
  tcp: TcpMonitorDefinition,
  dns: DnsMonitorDefinition,
  maintenance_window: MaintenanceWindowDefinition,
  status_page: StatusPageDefinition,
  notification_settings: SettingsDefinition
} as const satisfies Readonly<Record<DefinedKind, Schema.Top>>

/** The section of a document that contains each kind of record. */
export const sectionOfKind = {
  queue: "queues",
  notification_channel: "channels",
  escalation_policy: "escalations",
  cron: "tasks",
  delayed: "delayed",
  chain: "chains",
  heartbeat: "monitors",
  ssl: "monitors",
  process: "monitors",
  http: "monitors",
  tcp: "monitors",
  dns: "monitors",
  maintenance_window: "maintenance",
  status_page: "status_pages"
} as const satisfies Readonly<Record<ListedKind, Section>>

export const readScopes = ["tasks:read", "monitors:read", "notifications:read"] as const

export const writeScopes = ["tasks:write", "monitors:write", "notifications:write"] as const

const families = {
  queues: "tasks",
  channels: "notifications",
  escalations: "notifications",
  tasks: "tasks",
  delayed: "tasks",
  chains: "tasks",
  monitors: "monitors",
  maintenance: "monitors",
  status_pages: "monitors",
  notification_settings: "notifications"
} as const

/** The scope that an API key needs for a section of a document. */
export const scopeOfSection = (section: DocumentSection, access: "read" | "write"): Scope =>
  `${families[section]}:${access}`

/**
 * Returns a definition's fields without the version and without fields that only responses have.
 */
const definitionFields = <const Fields extends Schema.Struct.Fields>(fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, field]) => field !== ignoredField && name !== "version")
  ) as Schema.Struct.Fields as Fields

/** Adds a key to the schema of a definition, and keeps the schema's checks. */
const withKey = <const Fields extends Schema.Struct.Fields>(definition: Schema.Struct<Fields>) =>
  definition.mapFields((fields) => ({ key: CallerChosenKey, ...definitionFields(fields) }), {
    unsafePreserveChecks: true
  })

const monitorOf = <const Kind extends MonitorKind, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  definition: Schema.Struct<Fields>
) =>
  definition.mapFields(
    (fields) => ({
      kind: Schema.Literal(kind).annotate({ description: "The kind of the monitor." }),
      key: CallerChosenKey,
      ...definitionFields(fields)
    }),
    { unsafePreserveChecks: true }
  )

const QueueItem = withKey(QueueDefinition).annotate({
  identifier: "QueueInDocument",
  description: "A queue with its key. An absent limit means no limit.",
  examples: [{ key: "billing", name: "Billing server", max_concurrency: 2 }]
})

const ChannelItem = withKey(NotificationChannelDefinition).annotate({
  identifier: "ChannelInDocument",
  description: "A channel with its key. A masked secret keeps its stored value.",
  examples: [
    {
      key: "operations",
      name: "Operations",
      kind: "slack",
      config: { url: "{{ secrets.SLACK_URL }}" }
    }
  ]
})

const EscalationItem = withKey(EscalationPolicyDefinition).annotate({
  identifier: "EscalationPolicyInDocument",
  description: "An escalation policy with its key. Absent fields get their defaults.",
  examples: [
    {
      key: "on-call",
      name: "On call",
      steps: [{ after_seconds: 300, channel_keys: ["operations"] }]
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
  key: CallerChosenKey,
  ...Struct.omit(definitionFields(fields), ["delay_seconds", "run_at"]),
  run_at: timestampInput("When it runs, at most 365 days ahead. A time in the past means now.")
}))
  .check(...callChecks)
  .annotate({
    identifier: "DelayedTaskInDocument",
    description:
      "A delayed task with its key. `delay_seconds` is not supported, because the delay would " +
      "restart each time the document is applied.",
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

/**
 * The schemas of a document's monitors, by kind. A kind that is added here is supported in
 * documents.
 */
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

const MaintenanceItem = withKey(MaintenanceWindowDefinition).annotate({
  identifier: "MaintenanceWindowInDocument",
  description: "A maintenance window with its key. Absent fields get their defaults.",
  examples: [
    {
      key: "db-upgrade",
      name: "Database upgrade",
      schedule: MinuteSchedule.make("0 2 * * sun"),
      duration_seconds: 3600,
      monitor_keys: ["database"]
    }
  ]
})

const StatusPageItem = StatusPageDefinition.mapFields((fields) => ({
  key: StatusPageSlug,
  ...definitionFields(fields)
})).annotate({
  identifier: "StatusPageInDocument",
  description: "A status page. Its key is its slug. Absent fields get their defaults.",
  examples: [
    { key: "acme", title: "Acme status", groups: [{ name: "Website", monitor_keys: ["www"] }] }
  ]
})

interface Item {
  readonly key: string
  readonly kind?: unknown
}

/**
 * Monitor keys are unique within a kind of monitor. Channel keys are unique among all kinds of
 * channels.
 */
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

const Owner = CallerChosenKey.annotate({
  description:
    "A label that you choose for all records of the document, such as the name of its repository.",
  examples: ["billing"]
})

const content = {
  queues: sectionOf(QueueItem, "queues"),
  channels: sectionOf(ChannelItem, "notification channels"),
  escalations: sectionOf(EscalationItem, "escalation policies"),
  tasks: sectionOf(TaskItem, "cron tasks"),
  delayed: sectionOf(DelayedItem, "delayed tasks"),
  chains: sectionOf(ChainItem, "chains"),
  monitors: sectionOf(MonitorItem, "monitors of all kinds", true),
  maintenance: sectionOf(MaintenanceItem, "maintenance windows"),
  status_pages: sectionOf(StatusPageItem, "status pages")
}

export const DefinitionsDocument = Schema.Struct({
  version: Schema.Literal(1).annotate({ description: "The version of this format." }),
  owner: optionalWithDefault(
    "None",
    Schema.NullOr(Owner).annotate({
      description:
        "A label that you choose for all records of the document, such as the name of its " +
        "repository. With `prune`, records with this label that the document does not contain " +
        "are deleted. Records of other owners are not changed."
    })
  ),
  ...content,
  notification_settings: Schema.optionalKey(SettingsDefinition),
  without_key: ignoredField
})
  .check(
    Schema.makeFilter((document) => {
      const count = sections.reduce((sum, name) => sum + (document[name]?.length ?? 0), 0)
      return count > maxDefinitions
        ? filterIssue({
            path: [],
            code: "too_many",
            problem: `must define at most ${maxDefinitions} records in all: split the document`
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

/** An exported document. It contains every section that the credential has permission to read. */
export const ExportedDefinitions = Schema.Struct({
  version: Schema.Literal(1).annotate({ description: "The version of this format." }),
  owner: Schema.NullOr(Owner).annotate({
    description: "The owner by which the records are filtered. Null if all records are shown."
  }),
  ...content,
  notification_settings: Schema.optionalKey(SettingsDefinition),
  without_key: Schema.Int.annotate({
    description:
      "The number of records without a key, which the document does not contain. Ignored when " +
      "the document is applied."
  })
}).annotate({
  identifier: "ExportedDefinitions",
  description:
    "The definitions without fields that have their default. Secrets and headers with " +
    "credentials are masked; they keep their values when the document is applied to the same " +
    "workspace.",
  examples: [{ version: 1, owner: "billing", tasks: [exampleTask], without_key: 0 }]
})
export type ExportedDefinitions = typeof ExportedDefinitions.Type
