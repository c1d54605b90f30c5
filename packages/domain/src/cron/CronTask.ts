import { Schema, Struct } from "effect"
import { dependsOnField, dependsOnInput } from "../incidents/Dependency.ts"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { LastRun } from "../executions/Execution.ts"
import { Batch, BatchResult } from "../shared/requests/Batch.ts"
import { callOptions } from "../calls/CallOptions.ts"
import { callbacks } from "../calls/Callbacks.ts"
import { mask } from "../calls/credentialHeaders.ts"
import { call, callChecks, callUpdate, callUpdateChecks } from "../calls/HttpCall.ts"
import { CronTaskId, WorkspaceId } from "../shared/Ids.ts"
import { ListPage, listQueryWithStatus } from "../shared/requests/ListQuery.ts"
import { keyFields, keyInput } from "../shared/requests/CallerChosenKey.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import { patchFields } from "../shared/requests/optionalWithDefault.ts"
import { queueOptions } from "../queues/QueueOptions.ts"
import { label } from "../shared/Text.ts"
import { createdAt, updatedAt } from "../shared/Timestamp.ts"
import { runOn } from "../workers/RunOn.ts"
import {
  scheduleOptions,
  NextRunAt,
  pausedField,
  pausedInput,
  TaskStatus
} from "./ScheduleOptions.ts"
import { excludedCalendarPut, firingOptions, firingOptionsQuery } from "./FiringOptions.ts"
import { PreviewedFiring, Schedule } from "../schedules/Schedule.ts"
import { timing, timingCheck, requiredTimingCheck } from "../schedules/Timing.ts"

/** A cron task's default values. */
export const cronTaskDefaults = {
  key: null,
  tags: [],
  depends_on: [],
  ...timing.defaults,
  ...call.defaults,
  ...runOn.defaults,
  ...queueOptions.defaults,
  ...scheduleOptions.defaults,
  ...callbacks.defaults
} as const

const definition = {
  name: label(200, { description: "The display name.", examples: ["Nightly report"] }),
  ...tagsInput,
  ...dependsOnInput,
  ...timing.cronInput,
  ...call.input,
  ...runOn.input,
  ...queueOptions.input,
  ...scheduleOptions.input,
  ...callbacks.input
}

const exampleDefinition = {
  name: "Nightly report",
  schedule: Schedule.make("0 3 * * *"),
  url: "https://api.example.com/jobs/nightly",
  method: "POST",
  headers: { authorization: "Bearer 3f9c..." },
  body: '{"full":true}',
  timeout_seconds: 30,
  retry_count: 3
} as const

const fieldsWithKey = Schema.Struct({ ...definition, ...keyInput })

const namedCronTaskInput = fieldsWithKey
  .mapFields(Struct.assign(pausedInput))
  .check(...callChecks, requiredTimingCheck)
  .annotate({ identifier: "CronTaskInput", examples: [exampleDefinition] })

/** An interface that gives the type a name, as for `ChainInputSchema`. */
export interface CronTaskInputSchema extends NamedCronTaskInput {}
type NamedCronTaskInput = typeof namedCronTaskInput
export const CronTaskInput: CronTaskInputSchema = namedCronTaskInput
export type CronTaskInput = typeof CronTaskInput.Type

const namedCronTaskUpdate = fieldsWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign({ ...patchFields({ ...callUpdate, ...pausedInput }), ...versionInput }))
  .check(...callUpdateChecks, timingCheck)
  .annotate({
    identifier: "CronTaskUpdate",
    description: "The fields to change. Absent fields keep their values.",
    examples: [{ schedule: Schedule.make("0 4 * * *") }]
  })

export interface CronTaskUpdateSchema extends NamedCronTaskUpdate {}
type NamedCronTaskUpdate = typeof namedCronTaskUpdate
export const CronTaskUpdate: CronTaskUpdateSchema = namedCronTaskUpdate
export type CronTaskUpdate = typeof CronTaskUpdate.Type

const namedCronTask = Schema.Struct({
  id: CronTaskId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.String.annotate({ description: "The display name." }),
  ...tagsField,
  ...dependsOnField,
  ...timing.fields,
  ...call.fields,
  ...runOn.fields,
  ...queueOptions.fields,
  ...scheduleOptions.fields,
  ...callbacks.fields,
  ...pausedField,
  status: TaskStatus,
  next_run_at: NextRunAt,
  last_run: Schema.NullOr(LastRun).annotate({
    description: "The latest run. Null before the first run."
  }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "CronTask",
  description: "A call that is made whenever its schedule fires.",
  examples: [
    {
      id: CronTaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      key: "reports:nightly",
      version: 1,
      name: "Nightly report",
      tags: ["reports"],
      depends_on: [],
      ...timing.defaults,
      schedule: "0 3 * * *",
      url: "https://api.example.com/jobs/nightly",
      method: "POST",
      headers: { authorization: mask },
      body: '{"full":true}',
      timeout_seconds: 30,
      retry_count: 3,
      ...callOptions.unset,
      ...runOn.defaults,
      ...queueOptions.defaults,
      timezone: "UTC",
      overlap: "skip",
      missed: "once",
      dst_overlap: "first",
      ...firingOptions.unset,
      paused_reason: null,
      ...callbacks.unset,
      paused: false,
      status: "active",
      next_run_at: "2026-02-01T03:00:00.000Z",
      last_run: null,
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})

export interface CronTaskSchema extends NamedCronTask {}
type NamedCronTask = typeof namedCronTask
export const CronTask: CronTaskSchema = namedCronTask
export type CronTask = typeof CronTask.Type

const namedCronTaskDefinition = Schema.Struct(
  putFields({ ...definition, ...excludedCalendarPut, ...pausedInput, ...versionInput }, CronTask)
)
  .check(...callChecks, requiredTimingCheck)
  .annotate({
    identifier: "CronTaskDefinition",
    description:
      "A cron task whose key is in the path. Absent fields get their defaults. Fields that only " +
      "responses have are ignored.",
    examples: [exampleDefinition]
  })

export interface CronTaskDefinitionSchema extends NamedCronTaskDefinition {}
type NamedCronTaskDefinition = typeof namedCronTaskDefinition
export const CronTaskDefinition: CronTaskDefinitionSchema = namedCronTaskDefinition
export type CronTaskDefinition = typeof CronTaskDefinition.Type

export const CronTaskPage = ListPage("CronTaskPage", CronTask)

export const CronTaskQuery = listQueryWithStatus(TaskStatus, [
  "-created_at",
  "created_at",
  "name",
  "-name",
  "next_run_at",
  "-next_run_at"
])

export const defaultPreviewCount = 10

export const PreviewQuery = {
  ...timing.query,
  timezone: scheduleOptions.input.timezone,
  dst_overlap: scheduleOptions.input.dst_overlap,
  ...firingOptionsQuery,
  count: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
      description: "The number of firings to return. Defaults to 10.",
      examples: [10]
    })
  )
}

export const SchedulePreview = Schema.Struct({
  data: Schema.Array(PreviewedFiring.annotate({ identifier: "PreviewedFiring" })).annotate({
    description: "The next firings, soonest first."
  })
}).annotate({
  identifier: "SchedulePreview",
  description:
    "The next firings, soonest first. `clock_change` is the effect of a clock change: `moved` " +
    "(out of the skipped hour), `doubled` (fires twice), or `dropped` (the repetition does not fire " +
    "and does not count towards the requested number). An excluded day is represented by its first firing, which is marked `excluded` and does not count either. There are fewer firings than requested if `ends_at` comes first, or if they " +
    "are more than ten years ahead; the first firing is always shown. Jitter is not included, because each " +
    "task has its own.",
  examples: [
    {
      data: [
        {
          at: "2026-02-01T03:00:00.000Z",
          local: "2026-02-01T03:00:00+00:00",
          clock_change: null,
          excluded: false
        }
      ]
    }
  ]
})
export type SchedulePreview = typeof SchedulePreview.Type

export const CronTaskBatch = Batch("CronTaskBatch", CronTaskInput, exampleDefinition)

export const CronTaskBatchResult = BatchResult("CronTaskBatchResult", CronTask)
