import { Schema, Struct } from "effect"
import { LastRun } from "../executions/Execution.ts"
import { callDefaults, callFields, callInput } from "../shared/HttpCall.ts"
import { DelayedTaskId, WorkspaceId } from "../shared/Ids.ts"
import { NameFilter } from "../shared/NameFilter.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/Page.ts"
import { label } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"

export const maxPendingTasks = 100_000

/** `delay_seconds` is held to it here, `run_at` by the server, which knows the time. */
export const maxDelaySeconds = 365 * 24 * 60 * 60

export const delayedTaskDefaults = { name: null, ...callDefaults } as const

export const DelayedTaskStatus = oneOf(["pending", "running", "finished", "cancelled"], {
  identifier: "DelayedTaskStatus",
  description:
    "`pending` until `run_at`, then `running` while its execution is queued or running, then " +
    "`finished`: `last_run` says how it went. `cancelled` if it was deleted before."
})
export type DelayedTaskStatus = typeof DelayedTaskStatus.Type

const fields = Schema.Struct({
  name: Schema.optionalKey(
    Schema.NullOr(
      label(200).pipe(Schema.annotateEncoded({ examples: ["Trial ends: ada@example.com"] }))
    )
  ),
  ...callInput,
  run_at: Schema.optionalKey(
    Timestamp.annotate({
      description: "At most 365 days ahead. A time that has passed means now."
    })
  ),
  delay_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxDelaySeconds })).annotate({
      description: "From the moment that the service takes the request.",
      examples: [3600]
    })
  )
})

interface Due {
  readonly run_at?: Timestamp
  readonly delay_seconds?: number
}

const bothGiven = (due: Due) => due.run_at !== undefined && due.delay_seconds !== undefined
const noneGiven = (due: Due) => due.run_at === undefined && due.delay_seconds === undefined

const notBoth = { path: ["delay_seconds"], issue: "give run_at or delay_seconds, not both" }
const missing = { path: ["run_at"], issue: "is missing: give run_at or delay_seconds" }

const exactlyOne = Schema.makeFilter<Due>(
  (due) => (bothGiven(due) ? notBoth : noneGiven(due) ? missing : undefined),
  { toJsonSchema: () => ({ oneOf: [{ required: ["run_at"] }, { required: ["delay_seconds"] }] }) }
)

const atMostOne = Schema.makeFilter<Due>((due) => (bothGiven(due) ? notBoth : undefined), {
  toJsonSchema: () => ({
    not: { properties: { run_at: {}, delay_seconds: {} }, required: ["run_at", "delay_seconds"] }
  })
})

export const DelayedTaskInput = fields.check(exactlyOne).annotate({
  identifier: "DelayedTaskInput",
  description: "Give `run_at` or `delay_seconds`, one of the two.",
  examples: [
    {
      name: "Trial ends: ada@example.com",
      url: "https://api.example.com/trials/ended",
      body: '{"user":"ada@example.com"}',
      delay_seconds: 1_209_600,
      retry_count: 3
    }
  ]
})
export type DelayedTaskInput = typeof DelayedTaskInput.Type

export const DelayedTaskUpdate = fields
  .mapFields(Struct.map(Schema.optionalKey))
  .check(atMostOne)
  .annotate({
    identifier: "DelayedTaskUpdate",
    description:
      "Any of the fields; those that are absent stay as they are. `run_at` or `delay_seconds`, " +
      "not both; the delay counts from now.",
    examples: [{ delay_seconds: 600 }]
  })
export type DelayedTaskUpdate = typeof DelayedTaskUpdate.Type

export const DelayedTask = Schema.Struct({
  id: DelayedTaskId,
  workspace_id: WorkspaceId,
  name: Schema.NullOr(Schema.String),
  ...callFields,
  status: DelayedTaskStatus,
  run_at: Timestamp,
  last_run: Schema.NullOr(LastRun),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({
  identifier: "DelayedTask",
  examples: [
    {
      id: DelayedTaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      name: "Trial ends: ada@example.com",
      url: "https://api.example.com/trials/ended",
      method: "POST",
      headers: {},
      body: '{"user":"ada@example.com"}',
      timeout_seconds: 30,
      retry_count: 3,
      status: "pending",
      run_at: "2026-02-14T09:30:00.000Z",
      last_run: null,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type DelayedTask = typeof DelayedTask.Type

export const DelayedTaskPage = Page("DelayedTaskPage", DelayedTask)

export const DelayedTaskFilters = {
  status: Schema.optionalKey(DelayedTaskStatus),
  name: Schema.optionalKey(NameFilter)
}
