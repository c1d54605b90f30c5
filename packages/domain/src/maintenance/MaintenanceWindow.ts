import { Schema } from "effect"
import { TaskId } from "../executions/Execution.ts"
import { MinuteSchedule } from "../schedules/Schedule.ts"
import { TimeZone } from "../schedules/TimeZone.ts"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { MaintenanceWindowId, MonitorId, WorkspaceId } from "../shared/Ids.ts"
import { keysOfRecords, referencedKeys } from "../shared/requests/CallerChosenKey.ts"
import { Page } from "../shared/requests/Page.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { label } from "../shared/Text.ts"
import { createdAt, Timestamp, timestampInput, updatedAt } from "../shared/Timestamp.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"

/** The maximum number of maintenance windows per workspace. */
export const maxMaintenanceWindows = 50
/** A maintenance window's default values. An export omits fields that have their default value. */
export const maintenanceDefaults = {
  timezone: "UTC",
  everything: false,
  monitor_ids: [],
  monitor_keys: [],
  task_ids: [],
  task_keys: []
} as const

const maxIds = 100
const maxTags = 20

const name = { description: "What the maintenance is for.", examples: ["Database upgrade"] }
const startsAt = {
  description: "When the maintenance starts. Null if it follows a schedule."
}
const endsAt = { description: "When the maintenance ends. Null if it follows a schedule." }
const schedule = {
  description:
    "A cron expression for the start of recurring maintenance. Null if the maintenance happens only once."
}
const timezone = { description: "The time zone of the schedule. Defaults to UTC." }
const durationSeconds = {
  description:
    "The duration of recurring maintenance, in seconds, up to 7 days. Null if the maintenance happens only once.",
  examples: [3600]
}
const everything = {
  description: "Whether the window applies to all monitors and tasks of the workspace."
}
const tags = {
  description: "The window applies to monitors and tasks with one of these tags.",
  examples: [["database"]]
}
const monitorIds = { description: "The window applies to these monitors." }
const taskIds = { description: "The window applies to these cron tasks and chains." }

export const MaintenanceWindow = Schema.Struct({
  id: MaintenanceWindowId,
  key: Schema.String.annotate({ description: "The key in the path.", examples: ["db-upgrade"] }),
  workspace_id: WorkspaceId,
  ...versionField,
  name: Schema.String.annotate(name),
  is_active: Schema.Boolean.annotate({
    description: "Whether the maintenance was in progress when the window was read."
  }),
  next_starts_at: Schema.NullOr(Timestamp).annotate({
    description:
      "When the maintenance next starts, not counting maintenance in progress. Null if it does not start again."
  }),
  starts_at: Schema.NullOr(Timestamp).annotate(startsAt),
  ends_at: Schema.NullOr(Timestamp).annotate(endsAt),
  schedule: Schema.NullOr(Schema.String).annotate(schedule),
  timezone: Schema.String.annotate({ ...timezone, examples: ["Europe/Berlin"] }),
  duration_seconds: Schema.NullOr(Schema.Int).annotate(durationSeconds),
  everything: Schema.Boolean.annotate(everything),
  tags: Schema.Array(Schema.String).annotate(tags),
  monitor_ids: Schema.Array(MonitorId).annotate(monitorIds),
  monitor_keys: keysOfRecords("monitors"),
  task_ids: Schema.Array(TaskId).annotate(taskIds),
  task_keys: keysOfRecords("tasks and chains"),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "MaintenanceWindow",
  description: "A period in which failures open no incidents and nobody is notified.",
  examples: [
    {
      id: MaintenanceWindowId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      key: "db-upgrade",
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      version: 1,
      name: "Database upgrade",
      is_active: false,
      next_starts_at: "2026-02-01T01:00:00.000Z",
      starts_at: null,
      ends_at: null,
      schedule: "0 2 * * sun",
      timezone: "Europe/Berlin",
      duration_seconds: 3600,
      everything: false,
      tags: ["database"],
      monitor_ids: [],
      monitor_keys: [],
      task_ids: [],
      task_keys: [],
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type MaintenanceWindow = typeof MaintenanceWindow.Type

interface Times {
  readonly starts_at?: string | null
  readonly ends_at?: string | null
  readonly schedule?: string | null
  readonly duration_seconds?: number | null
}

/** A window has either `starts_at` and `ends_at`, or a schedule and a duration. */
const timesAreComplete = Schema.makeFilter<Times>(
  ({ duration_seconds, ends_at, schedule: cron, starts_at }) => {
    const missing = (field: keyof Times, problem: string) =>
      filterIssue({ path: [field], code: "required", problem })
    if (cron != null) {
      if (duration_seconds == null)
        return missing("duration_seconds", "is required with a schedule")
      return starts_at == null && ends_at == null
        ? undefined
        : filterIssue({
            path: [starts_at == null ? "ends_at" : "starts_at"],
            code: "invalid",
            problem: "cannot be combined with a schedule"
          })
    }
    if (starts_at == null) return missing("starts_at", "is required, unless a schedule is given")
    if (ends_at == null) return missing("ends_at", "is required, unless a schedule is given")
    if (duration_seconds != null) return missing("schedule", "is required with duration_seconds")
    return Date.parse(starts_at) < Date.parse(ends_at)
      ? undefined
      : filterIssue({ path: ["ends_at"], code: "out_of_range", problem: "must be after starts_at" })
  }
)

const selections = ["tags", "monitor_ids", "monitor_keys", "task_ids", "task_keys"] as const

const selectsSomething = Schema.makeFilter<
  { readonly everything?: boolean } & {
    readonly [Name in (typeof selections)[number]]?: ReadonlyArray<string>
  }
>((window) =>
  window.everything === true || selections.some((name) => (window[name] ?? []).length > 0)
    ? undefined
    : filterIssue({
        path: ["everything"],
        code: "required",
        problem: "must be true, unless tags, monitor_ids or task_ids select something"
      })
)

export const MaintenanceWindowDefinition = Schema.Struct(
  putFields(
    {
      name: label(100, name),
      starts_at: optionalWithDefault("None", Schema.NullOr(timestampInput(startsAt.description))),
      ends_at: optionalWithDefault("None", Schema.NullOr(timestampInput(endsAt.description))),
      schedule: optionalWithDefault("None", Schema.NullOr(MinuteSchedule).annotate(schedule)),
      timezone: optionalWithDefault("UTC", TimeZone.annotate(timezone)),
      duration_seconds: optionalWithDefault(
        "None",
        Schema.NullOr(
          Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 604_800 }))
        ).annotate(durationSeconds)
      ),
      everything: optionalWithDefault("False", Schema.Boolean.annotate(everything)),
      tags: optionalWithDefault(
        "None",
        Schema.Array(label(50)).check(Schema.isMaxLength(maxTags), Schema.isUnique()).annotate(tags)
      ),
      monitor_ids: optionalWithDefault(
        "None",
        Schema.Array(MonitorId)
          .check(Schema.isMaxLength(maxIds), Schema.isUnique())
          .annotate(monitorIds)
      ),
      monitor_keys: referencedKeys("monitors", "monitor_ids", maxIds),
      task_ids: optionalWithDefault(
        "None",
        Schema.Array(TaskId).check(Schema.isMaxLength(maxIds), Schema.isUnique()).annotate(taskIds)
      ),
      task_keys: referencedKeys("tasks and chains", "task_ids", maxIds),
      ...versionInput
    },
    MaintenanceWindow
  )
)
  .check(timesAreComplete, selectsSomething)
  .annotate({
    identifier: "MaintenanceWindowDefinition",
    description:
      "A maintenance window whose key is in the path. It has `starts_at` and `ends_at`, or a `schedule` and " +
      "`duration_seconds`. Absent fields get their defaults. Fields that only responses have are ignored.",
    examples: [
      {
        name: "Database upgrade",
        schedule: MinuteSchedule.make("0 2 * * sun"),
        timezone: TimeZone.make("Europe/Berlin"),
        duration_seconds: 3600,
        tags: ["database"]
      }
    ]
  })
export type MaintenanceWindowDefinition = typeof MaintenanceWindowDefinition.Type

export const MaintenanceWindowList = Page("MaintenanceWindowList", MaintenanceWindow)
