import { Schema, Struct } from "effect"
import { LastRun } from "../executions/Execution.ts"
import { callDefaults, callFields, callInput } from "../shared/HttpCall.ts"
import { CronTaskId, WorkspaceId } from "../shared/Ids.ts"
import { NameFilter } from "../shared/NameFilter.ts"
import { Page } from "../shared/Page.ts"
import { label } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { firingDefaults, firingFields, firingInput, NextRunAt, TaskStatus } from "./Firing.ts"
import { PreviewedFire, Schedule } from "./Schedule.ts"

export const maxCronTasks = 10_000

/** What a cron task is where its author did not say. */
export const cronTaskDefaults = { ...callDefaults, ...firingDefaults } as const

export const CronTaskInput = Schema.Struct({
  name: label(200).pipe(Schema.annotateEncoded({ examples: ["Nightly report"] })),
  schedule: Schedule,
  ...callInput,
  ...firingInput
}).annotate({
  identifier: "CronTaskInput",
  examples: [
    {
      name: "Nightly report",
      schedule: Schedule.make("0 3 * * *"),
      url: "https://api.example.com/jobs/nightly",
      method: "POST",
      headers: { authorization: "Bearer 3f9c..." },
      body: '{"full":true}',
      timeout_seconds: 30,
      retry_count: 3
    }
  ]
})
export type CronTaskInput = typeof CronTaskInput.Type

export const CronTaskUpdate = CronTaskInput.mapFields(Struct.map(Schema.optionalKey)).annotate({
  identifier: "CronTaskUpdate",
  description: "Any of the fields; those that are absent stay as they are.",
  examples: [{ schedule: Schedule.make("0 4 * * *") }]
})
export type CronTaskUpdate = typeof CronTaskUpdate.Type

export const CronTask = Schema.Struct({
  id: CronTaskId,
  workspace_id: WorkspaceId,
  name: Schema.String,
  schedule: Schema.String,
  ...callFields,
  ...firingFields,
  status: TaskStatus,
  next_run_at: NextRunAt,
  last_run: Schema.NullOr(LastRun),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({
  identifier: "CronTask",
  examples: [
    {
      id: CronTaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      name: "Nightly report",
      schedule: "0 3 * * *",
      url: "https://api.example.com/jobs/nightly",
      method: "POST",
      headers: { authorization: "Bearer 3f9c..." },
      body: '{"full":true}',
      timeout_seconds: 30,
      retry_count: 3,
      timezone: "UTC",
      overlap: "skip",
      missed: "once",
      dst_overlap: "first",
      status: "active",
      next_run_at: "2026-02-01T03:00:00.000Z",
      last_run: null,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type CronTask = typeof CronTask.Type

export const CronTaskPage = Page("CronTaskPage", CronTask)

export const CronTaskFilters = {
  status: Schema.optionalKey(TaskStatus),
  name: Schema.optionalKey(NameFilter)
}

export const defaultPreviewCount = 10

export const PreviewQuery = {
  schedule: Schedule,
  timezone: firingInput.timezone,
  dst_overlap: firingInput.dst_overlap,
  count: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
      description: "How many fires to show. 10 when absent.",
      examples: [10]
    })
  )
}

export const SchedulePreview = Schema.Struct({
  data: Schema.Array(PreviewedFire.annotate({ identifier: "PreviewedFire" }))
}).annotate({
  identifier: "SchedulePreview",
  description:
    "The next fires, the soonest first. `clock_change` says what a clock change did: `moved` " +
    "one out of the hour that was skipped, `doubled` one, or `dropped` its repetition, which " +
    "then is no fire and does not count.",
  examples: [
    {
      data: [
        { at: "2026-02-01T03:00:00.000Z", local: "2026-02-01T03:00:00+00:00", clock_change: null }
      ]
    }
  ]
})
export type SchedulePreview = typeof SchedulePreview.Type
