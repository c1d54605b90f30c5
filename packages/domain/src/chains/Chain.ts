import { Schema, Struct } from "effect"
import { dependsOnField, dependsOnInput } from "../incidents/Dependency.ts"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import {
  scheduleOptions,
  NextRunAt,
  pausedField,
  pausedInput,
  TaskStatus
} from "../cron/ScheduleOptions.ts"
import { excludedCalendarPut, firingOptions } from "../cron/FiringOptions.ts"
import { Schedule } from "../schedules/Schedule.ts"
import { timing, timingCheck } from "../schedules/Timing.ts"
import { ExecutionStatus } from "../executions/Execution.ts"
import { Batch, BatchResult } from "../shared/requests/Batch.ts"
import { callbacks } from "../calls/Callbacks.ts"
import { ChainId, ChainRunId, WorkspaceId } from "../shared/Ids.ts"
import { patchFields } from "../shared/requests/optionalWithDefault.ts"
import { ListPage, listQueryWithStatus } from "../shared/requests/ListQuery.ts"
import { keyFields, keyInput } from "../shared/requests/CallerChosenKey.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import { queueOptions } from "../queues/QueueOptions.ts"
import { label } from "../shared/Text.ts"
import { createdAt, finishedAt, updatedAt } from "../shared/Timestamp.ts"
import { filterIssue } from "../shared/ValidationIssue.ts"
import { ChainStep, ChainStepInput, exampleCallStep, stepsProblems } from "./ChainStep.ts"

export const maxChainSteps = 50

/** A chain's default values. */
export const chainDefaults = {
  key: null,
  tags: [],
  depends_on: [],
  ...timing.defaults,
  ...queueOptions.defaults,
  ...scheduleOptions.defaults,
  ...callbacks.defaults
} as const

const definition = {
  name: label(200, { description: "The display name.", examples: ["Close the day"] }),
  ...tagsInput,
  ...dependsOnInput,
  steps: Schema.Array(ChainStepInput)
    .check(
      Schema.isBetweenLength(1, maxChainSteps),
      Schema.makeFilter((steps) => stepsProblems(steps).map(filterIssue), {
        toJsonSchema: () => ({})
      })
    )
    .annotate({ description: "The steps, in the order in which they run." }),
  ...timing.chainInput,
  ...queueOptions.input,
  ...scheduleOptions.input,
  ...callbacks.input
}

const exampleDefinition = {
  name: "Close the day",
  schedule: Schedule.make("0 18 * * MON-FRI"),
  steps: [
    { name: "login", url: "https://api.example.com/login", body: '{"user":"robot"}' },
    {
      name: "close",
      url: "https://api.example.com/days/{{ steps.login.body.day }}/close",
      headers: { authorization: "Bearer {{ steps.login.body.token }}" },
      retry_count: 3
    },
    {
      name: "alarm",
      run_if: "failure",
      url: "https://chat.example.com/hooks/ops",
      body: '{"text":"The day was not closed."}'
    }
  ]
} as const

const fieldsWithKey = Schema.Struct({ ...definition, ...keyInput })

const namedChainInput = fieldsWithKey
  .mapFields(Struct.assign(pausedInput))
  .check(timingCheck)
  .annotate({
    identifier: "ChainInput",
    examples: [exampleDefinition]
  })

/**
 * An interface gives the type a name. Otherwise, declarations would repeat the whole type at each
 * endpoint.
 */
export interface ChainInputSchema extends NamedChainInput {}
type NamedChainInput = typeof namedChainInput
export const ChainInput: ChainInputSchema = namedChainInput
export type ChainInput = typeof ChainInput.Type

const namedChainUpdate = fieldsWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign({ ...patchFields(pausedInput), ...versionInput }))
  .check(timingCheck)
  .annotate({
    identifier: "ChainUpdate",
    description:
      "The fields to change. Absent fields keep their values. `steps` replaces all steps. " +
      "Runs that have started keep the steps they started with.",
    examples: [{ schedule: Schedule.make("0 19 * * MON-FRI") }]
  })

export interface ChainUpdateSchema extends NamedChainUpdate {}
type NamedChainUpdate = typeof namedChainUpdate
export const ChainUpdate: ChainUpdateSchema = namedChainUpdate
export type ChainUpdate = typeof ChainUpdate.Type

/** A chain's latest run, as part of the chain. */
export const LastChainRun = Schema.Struct({
  run_id: ChainRunId,
  status: ExecutionStatus,
  finished_at: finishedAt
}).annotate({ identifier: "LastChainRun", description: "The latest run." })
export type LastChainRun = typeof LastChainRun.Type

const namedChain = Schema.Struct({
  id: ChainId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.String.annotate({ description: "The display name." }),
  ...tagsField,
  ...dependsOnField,
  steps: Schema.Array(ChainStep).annotate({
    description: "The steps, in the order in which they run."
  }),
  ...timing.fields,
  ...queueOptions.fields,
  ...scheduleOptions.fields,
  ...callbacks.fields,
  ...pausedField,
  status: TaskStatus,
  next_run_at: NextRunAt,
  last_run: Schema.NullOr(LastChainRun).annotate({
    description: "The latest run. Null before the first run."
  }),
  ...authorFields,
  created_at: createdAt,
  updated_at: updatedAt
}).annotate({
  identifier: "Chain",
  description: "Calls that run one after the other. Each can use earlier responses.",
  examples: [
    {
      id: ChainId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      key: null,
      version: 1,
      name: "Close the day",
      tags: [],
      depends_on: [],
      steps: [exampleCallStep],
      ...timing.defaults,
      schedule: "0 18 * * MON-FRI",
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
      next_run_at: "2026-02-02T18:00:00.000Z",
      last_run: null,
      ...exampleAuthors,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})

export interface ChainSchema extends NamedChain {}
type NamedChain = typeof namedChain
export const Chain: ChainSchema = namedChain
export type Chain = typeof Chain.Type

const namedChainDefinition = Schema.Struct(
  putFields({ ...definition, ...excludedCalendarPut, ...pausedInput, ...versionInput }, Chain)
)
  .check(timingCheck)
  .annotate({
    identifier: "ChainDefinition",
    description:
      "A chain whose key is in the path. Absent fields get their defaults. Fields that only responses " +
      "have are ignored.",
    examples: [exampleDefinition]
  })

export interface ChainDefinitionSchema extends NamedChainDefinition {}
type NamedChainDefinition = typeof namedChainDefinition
export const ChainDefinition: ChainDefinitionSchema = namedChainDefinition
export type ChainDefinition = typeof ChainDefinition.Type

export const ChainPage = ListPage("ChainPage", Chain)

export const ChainQuery = listQueryWithStatus(TaskStatus, [
  "-created_at",
  "created_at",
  "name",
  "-name",
  "next_run_at",
  "-next_run_at"
])

export const ChainBatch = Batch("ChainBatch", ChainInput, exampleDefinition)

export const ChainBatchResult = BatchResult("ChainBatchResult", Chain)
