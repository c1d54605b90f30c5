import { Schema, Struct } from "effect"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { LastRun } from "../executions/Execution.ts"
import { Batch, BatchResult } from "../shared/requests/Batch.ts"
import { callOptions } from "../calls/CallOptions.ts"
import { callbacks } from "../calls/Callbacks.ts"
import { call, callChecks, callUpdate, callUpdateChecks } from "../calls/HttpCall.ts"
import { DelayedTaskId, ExecutionId, WorkspaceId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { ListPage, listQueryWithStatus } from "../shared/requests/ListQuery.ts"
import { keyFields, keyInput } from "../shared/requests/CallerChosenKey.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import { patchFields, optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { queueOptions } from "../queues/QueueOptions.ts"
import { label } from "../shared/Text.ts"
import { createdAt, Timestamp, timestampInput, updatedAt } from "../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { runOn } from "../workers/RunOn.ts"

/**
 * The maximum delay of a delayed task: one year. The schema checks `delay_seconds`. The server
 * checks `run_at`, because that check depends on the current time.
 */
export const maxDelaySeconds = 365 * 24 * 60 * 60

export const delayedTaskDefaults = {
  key: null,
  name: null,
  tags: [],
  ...call.defaults,
  ...runOn.defaults,
  ...queueOptions.defaults,
  ...callbacks.defaults
} as const

export const DelayedTaskStatus = oneOf(["pending", "running", "finished", "cancelled"], {
  identifier: "DelayedTaskStatus",
  description:
    "`pending` until `run_at`, `running` while its execution is queued or running, and then " +
    "`finished`, with the result in `last_run`. `cancelled` if it was deleted before it ran."
})
export type DelayedTaskStatus = typeof DelayedTaskStatus.Type

const fields = Schema.Struct({
  name: optionalWithDefault(
    "None",
    Schema.NullOr(label(200, { examples: ["Trial ends: ada@example.com"] })).annotate({
      description: "The display name."
    })
  ),
  ...tagsInput,
  ...call.input,
  ...runOn.input,
  ...queueOptions.input,
  ...callbacks.input,
  run_at: Schema.optionalKey(
    timestampInput("At most 365 days ahead. A time in the past means now.")
  ),
  delay_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxDelaySeconds })).annotate({
      description: "The delay in seconds from when the service accepts the request.",
      examples: [3600]
    })
  )
})

const fieldsWithKey = fields.mapFields(Struct.assign(keyInput))

interface Due {
  readonly run_at?: Timestamp
  readonly delay_seconds?: number
}

const bothGiven = (due: Due) => due.run_at !== undefined && due.delay_seconds !== undefined
const noneGiven = (due: Due) => due.run_at === undefined && due.delay_seconds === undefined

const notBoth: FieldProblem = {
  path: ["delay_seconds"],
  code: "invalid",
  problem: "must not be given together with run_at"
}
const missing: FieldProblem = {
  path: ["run_at"],
  code: "required",
  problem: "or delay_seconds is required"
}

const exactlyOne = Schema.makeFilter<Due>(
  (due) => {
    const problem = bothGiven(due) ? notBoth : noneGiven(due) ? missing : undefined
    return problem && filterIssue(problem)
  },
  { toJsonSchema: () => ({ oneOf: [{ required: ["run_at"] }, { required: ["delay_seconds"] }] }) }
)

const atMostOne = Schema.makeFilter<Due>(
  (due) => (bothGiven(due) ? filterIssue(notBoth) : undefined),
  {
    toJsonSchema: () => ({
      not: { properties: { run_at: {}, delay_seconds: {} }, required: ["run_at", "delay_seconds"] }
    })
  }
)

const exampleDefinition = {
  name: "Trial ends: ada@example.com",
  url: "https://api.example.com/trials/ended",
  body: '{"user":"ada@example.com"}',
  delay_seconds: 1_209_600,
  retry_count: 3
}

export const DelayedTaskInput = fieldsWithKey.check(exactlyOne, ...callChecks).annotate({
  identifier: "DelayedTaskInput",
  description: "Give either `run_at` or `delay_seconds`.",
  examples: [exampleDefinition]
})
export type DelayedTaskInput = typeof DelayedTaskInput.Type

export const DelayedTaskUpdate = fieldsWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign({ ...patchFields(callUpdate), ...versionInput }))
  .check(atMostOne, ...callUpdateChecks)
  .annotate({
    identifier: "DelayedTaskUpdate",
    description:
      "The fields to change. Absent fields keep their values. Give `run_at` or `delay_seconds`, " +
      "not both. The delay counts from now.",
    examples: [{ delay_seconds: 600 }]
  })
export type DelayedTaskUpdate = typeof DelayedTaskUpdate.Type

export const DelayedTask = Schema.Struct({
  id: DelayedTaskId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.NullOr(Schema.String).annotate({
    description: "The display name. Null if there is none."
  }),
  ...tagsField,
  ...call.fields,
  ...runOn.fields,
  ...queueOptions.fields,
  ...callbacks.fields,
  status: DelayedTaskStatus,
  run_at: Timestamp.annotate({ description: "When the task runs." }),
  execution_id: Schema.NullOr(ExecutionId).annotate({
    description:
      "The id of the latest execution, or of the upcoming one while the task is `pending`. Changing `run_at` replaces the execution of a pending task. Null if the task was cancelled."
  }),
  last_run: Schema.NullOr(LastRun).annotate({
    description: "The latest run. Null before the first run."
  }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "DelayedTask",
  description: "A call that is made once.",
  examples: [
    {
      id: DelayedTaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      key: null,
      version: 1,
      name: "Trial ends: ada@example.com",
      tags: [],
      url: "https://api.example.com/trials/ended",
      method: "POST",
      headers: {},
      body: '{"user":"ada@example.com"}',
      timeout_seconds: 30,
      retry_count: 3,
      ...callOptions.unset,
      ...runOn.defaults,
      ...queueOptions.defaults,
      ...callbacks.unset,
      status: "pending",
      run_at: "2026-02-14T09:30:00.000Z",
      execution_id: ExecutionId.make("019c5b5a-6d40-7c4a-9d2f-3e8b7a6c5d42"),
      last_run: null,
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type DelayedTask = typeof DelayedTask.Type

export const DelayedTaskDefinition = Schema.Struct(
  putFields({ ...fields.fields, ...versionInput }, DelayedTask)
)
  .check(exactlyOne, ...callChecks)
  .annotate({
    identifier: "DelayedTaskDefinition",
    description:
      "A delayed task whose key is in the path. Absent fields get their defaults. Give either " +
      "`run_at` or `delay_seconds`. Fields that only responses have are ignored.",
    examples: [exampleDefinition]
  })
export type DelayedTaskDefinition = typeof DelayedTaskDefinition.Type

export const DelayedTaskPage = ListPage("DelayedTaskPage", DelayedTask)

export const DelayedTaskQuery = listQueryWithStatus(DelayedTaskStatus, [
  "-created_at",
  "created_at",
  "name",
  "-name",
  "run_at",
  "-run_at"
])

export const DelayedTaskBatch = Batch("DelayedTaskBatch", DelayedTaskInput, exampleDefinition)

export const DelayedTaskBatchResult = BatchResult("DelayedTaskBatchResult", DelayedTask)
