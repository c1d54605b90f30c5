import { Schema, Struct } from "effect"
import { authorFields, exampleAuthors } from "../shared/Actor.ts"
import { firing, NextRunAt, pausedField, pausedInput, TaskStatus } from "../cron/Firing.ts"
import { excludedCalendarPut, firingOptions } from "../cron/FiringOptions.ts"
import { Schedule } from "../schedules/Schedule.ts"
import { timing, timingAgrees } from "../schedules/Timing.ts"
import { ExecutionStatus } from "../executions/Execution.ts"
import { Batch, BatchResult } from "../shared/requests/Batch.ts"
import { bodyIsSent, callOptions, retriesAgree, timeoutFits } from "../calls/CallOptions.ts"
import { authorizationIsGivenOnce } from "../calls/CallAuth.ts"
import { callbacks } from "../calls/Callbacks.ts"
import { call } from "../calls/HttpCall.ts"
import { ChainId, ChainRunId, WorkspaceId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { patchFields, whenAbsent } from "../shared/requests/whenAbsent.ts"
import { ListPage, listQueryWithStatus } from "../shared/requests/ListQuery.ts"
import { keyFields, keyInput } from "../shared/requests/OwnKey.ts"
import { putFields } from "../shared/requests/putBody.ts"
import { versionField, versionInput } from "../shared/requests/Version.ts"
import { tagsField, tagsInput } from "../shared/Tags.ts"
import { queueRef } from "../queues/QueueRef.ts"
import { label } from "../shared/Text.ts"
import { createdAt, finishedAt, updatedAt } from "../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { runOn } from "../workers/RunOn.ts"
import { referenceProblems, tooManyReferences } from "../calls/TemplateCall.ts"
import { stepName } from "../calls/Template.ts"

export const maxSteps = 50

/** The defaults of a chain and of a step. */
export const chainDefaults = {
  key: null,
  tags: [],
  ...timing.defaults,
  ...queueRef.defaults,
  ...firing.defaults,
  ...callbacks.defaults
} as const
export const chainStepDefaults = { ...call.defaults, ...runOn.defaults, run_if: "success" } as const

export const RunIf = oneOf(["success", "failure", "always"], {
  identifier: "RunIf",
  description:
    "When a step runs: if no earlier step failed (`success`), if an earlier step failed " +
    "(`failure`), or `always`. Otherwise it is skipped."
})
export type RunIf = typeof RunIf.Type

const StepName = Schema.String.check(
  Schema.isPattern(stepName, {
    expected: "a name of at most 64 letters, digits, - and _ that starts with a letter",
    toJsonSchema: () => ({ pattern: stepName.source, maxLength: 64 })
  })
).annotate({
  description: "Later steps refer to the response by this name. Names are unique within a chain.",
  examples: ["login"]
})

export const ChainStepInput = Schema.Struct({
  name: StepName,
  ...call.input,
  ...runOn.input,
  run_if: whenAbsent("`success`", RunIf)
})
  .check(bodyIsSent, retriesAgree, timeoutFits, authorizationIsGivenOnce)
  .annotate({
    identifier: "ChainStepInput",
    description:
      "A call that may use the responses of earlier steps in `url`, `headers` and `body`: " +
      "`{{ steps.<name>.status }}`, `{{ steps.<name>.body }}` and, if the body is JSON, " +
      "`{{ steps.<name>.body.items[0].id }}`. If a value is missing, the step fails. The first " +
      "10,000 bytes of each response can be used. A chain may contain at most 2,000 references."
  })
export type ChainStepInput = typeof ChainStepInput.Type

/** Checks that step names are unique and that references name only earlier steps. */
export const stepsProblems = (
  steps: ReadonlyArray<ChainStepInput>
): ReadonlyArray<FieldProblem> => {
  const tooMany = tooManyReferences(steps)
  if (tooMany.length > 0) return tooMany
  const earlier = new Set<string>()
  return steps.flatMap((step, index) => {
    const problems = referenceProblems(step, earlier).map((one) => ({
      ...one,
      path: [index, ...one.path]
    }))
    if (earlier.has(step.name)) {
      problems.push({
        path: [index, "name"],
        code: "duplicate",
        problem: "is already the name of an earlier step"
      })
    }
    earlier.add(step.name)
    return problems
  })
}

const definition = {
  name: label(200, { description: "The display name.", examples: ["Close the day"] }),
  ...tagsInput,
  steps: Schema.Array(ChainStepInput)
    .check(
      Schema.isBetweenLength(1, maxSteps),
      Schema.makeFilter((steps) => stepsProblems(steps).map(filterIssue), {
        toJsonSchema: () => ({})
      })
    )
    .annotate({ description: "The steps, in the order in which they run." }),
  ...timing.chainInput,
  ...queueRef.input,
  ...firing.input,
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

export const ChainInput = fieldsWithKey
  .mapFields(Struct.assign(pausedInput))
  .check(timingAgrees)
  .annotate({
    identifier: "ChainInput",
    examples: [exampleDefinition]
  })
export type ChainInput = typeof ChainInput.Type

export const ChainUpdate = fieldsWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign({ ...patchFields(pausedInput), ...versionInput }))
  .check(timingAgrees)
  .annotate({
    identifier: "ChainUpdate",
    description:
      "Any of the fields. Absent fields are unchanged. `steps` replaces all steps. " +
      "Runs that have started keep the steps they started with.",
    examples: [{ schedule: Schedule.make("0 19 * * MON-FRI") }]
  })
export type ChainUpdate = typeof ChainUpdate.Type

export const ChainStep = Schema.Struct({
  name: Schema.String.annotate({
    description: "Later steps refer to the response by this name. Names are unique within a chain."
  }),
  ...call.fields,
  ...runOn.fields,
  run_if: RunIf
}).annotate({ identifier: "ChainStep" })
export type ChainStep = typeof ChainStep.Type

/** The latest run of a chain, as part of the chain. */
export const LastChainRun = Schema.Struct({
  run_id: ChainRunId,
  status: ExecutionStatus,
  finished_at: finishedAt
}).annotate({ identifier: "LastChainRun", description: "The latest run." })
export type LastChainRun = typeof LastChainRun.Type

export const Chain = Schema.Struct({
  id: ChainId,
  workspace_id: WorkspaceId,
  ...keyFields,
  ...versionField,
  name: Schema.String.annotate({ description: "The display name." }),
  ...tagsField,
  steps: Schema.Array(ChainStep).annotate({
    description: "The steps, in the order in which they run."
  }),
  ...timing.fields,
  ...queueRef.fields,
  ...firing.fields,
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
      steps: [
        {
          name: "close",
          url: "https://api.example.com/days/today/close",
          method: "POST",
          headers: {},
          body: null,
          timeout_seconds: 30,
          retry_count: 3,
          ...callOptions.unset,
          ...runOn.defaults,
          run_if: "success"
        }
      ],
      ...timing.defaults,
      schedule: "0 18 * * MON-FRI",
      ...queueRef.defaults,
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
export type Chain = typeof Chain.Type

export const ChainDefinition = Schema.Struct(
  putFields({ ...definition, ...excludedCalendarPut, ...pausedInput, ...versionInput }, Chain)
)
  .check(timingAgrees)
  .annotate({
    identifier: "ChainDefinition",
    description:
      "A chain whose key is in the path. Absent fields get their defaults. Fields that only responses " +
      "have are ignored.",
    examples: [exampleDefinition]
  })
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
