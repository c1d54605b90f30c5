import { Schema, Struct } from "effect"
import { firingDefaults, firingFields, firingInput, NextRunAt, TaskStatus } from "../cron/Firing.ts"
import { Schedule } from "../cron/Schedule.ts"
import { ExecutionStatus } from "../executions/Execution.ts"
import { callDefaults, callFields, callInput } from "../shared/HttpCall.ts"
import { ChainId, ChainRunId, WorkspaceId } from "../shared/Ids.ts"
import { NameFilter } from "../shared/NameFilter.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/Page.ts"
import { label } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"
import { countReferences, referenceProblems, StepUrl } from "./StepCall.ts"
import { stepName } from "./Template.ts"

export const maxChains = 10_000
export const maxSteps = 50

/** A megabyte has room for 60,000, which take 70 ms to read. */
const maxReferences = 2_000

/** What a chain and a step are where their author did not say. */
export const chainDefaults = { schedule: null, ...firingDefaults } as const
export const chainStepDefaults = { ...callDefaults, run_if: "success" } as const

export const RunIf = oneOf(["success", "failure", "always"], {
  identifier: "RunIf",
  description:
    "When a step runs: if nothing before it failed (`success`), if something before it did " +
    "(`failure`), or `always`. Otherwise it is skipped. `success` where a request leaves it " +
    "out."
})
export type RunIf = typeof RunIf.Type

const StepName = Schema.String.check(
  Schema.isPattern(stepName, {
    expected: "a name of at most 64 letters, digits, - and _ that starts with a letter",
    toJsonSchema: () => ({ pattern: stepName.source })
  })
).annotate({ examples: ["login"] })

export const ChainStepInput = Schema.Struct({
  name: StepName,
  ...callInput,
  url: StepUrl,
  run_if: Schema.optionalKey(RunIf)
}).annotate({
  identifier: "ChainStepInput",
  description:
    "A call that may use what earlier steps were answered, in `url`, `headers` and `body`: `{{ " +
    "steps.<name>.status }}`, `{{ steps.<name>.body }}` and, in a body that is JSON, `{{ " +
    "steps.<name>.body.items[0].id }}`. A value in a URL is percent-encoded; in a JSON body it " +
    "is escaped inside a string and a JSON value elsewhere. Where a value is missing the step " +
    "fails. Of each answer the first 10,000 bytes can be used. All steps of a chain together may " +
    "hold 2,000 references. Write `{{ '{{' }}` for the " +
    "braces themselves."
})
export type ChainStepInput = typeof ChainStepInput.Type

/** Each name once, and references only to what comes before. */
const stepsProblems = (steps: ReadonlyArray<ChainStepInput>) => {
  if (countReferences(steps) > maxReferences) {
    return [{ path: [], issue: `must hold at most ${maxReferences} references in all` }]
  }
  const earlier = new Set<string>()
  return steps.flatMap((step, index) => {
    const problems = referenceProblems(step, earlier).map(({ issue, path }) => ({
      path: [index, ...path],
      issue
    }))
    if (earlier.has(step.name)) {
      problems.push({ path: [index, "name"], issue: "is the name of an earlier step" })
    }
    earlier.add(step.name)
    return problems
  })
}

export const ChainInput = Schema.Struct({
  name: label(200).pipe(Schema.annotateEncoded({ examples: ["Close the day"] })),
  steps: Schema.Array(ChainStepInput).check(
    Schema.isBetweenLength(1, maxSteps),
    Schema.makeFilter(stepsProblems)
  ),
  schedule: Schema.optionalKey(
    Schema.NullOr(Schedule).annotate({
      description: "Absent or null: the chain runs only when it is asked to."
    })
  ),
  ...firingInput
}).annotate({
  identifier: "ChainInput",
  examples: [
    {
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
    }
  ]
})
export type ChainInput = typeof ChainInput.Type

export const ChainUpdate = ChainInput.mapFields(Struct.map(Schema.optionalKey)).annotate({
  identifier: "ChainUpdate",
  description:
    "Any of the fields; those that are absent stay as they are. `steps` replaces them all. " +
    "Runs that have started keep the steps they started with.",
  examples: [{ schedule: null }]
})
export type ChainUpdate = typeof ChainUpdate.Type

export const ChainStep = Schema.Struct({
  name: Schema.String,
  ...callFields,
  run_if: RunIf
}).annotate({ identifier: "ChainStep" })
export type ChainStep = typeof ChainStep.Type

/** What a chain says of its latest run. */
export const LastChainRun = Schema.Struct({
  run_id: ChainRunId,
  status: ExecutionStatus,
  finished_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "LastChainRun", description: "The latest run." })
export type LastChainRun = typeof LastChainRun.Type

export const Chain = Schema.Struct({
  id: ChainId,
  workspace_id: WorkspaceId,
  name: Schema.String,
  steps: Schema.Array(ChainStep),
  schedule: Schema.NullOr(Schema.String),
  ...firingFields,
  status: TaskStatus,
  next_run_at: NextRunAt,
  last_run: Schema.NullOr(LastChainRun),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({
  identifier: "Chain",
  examples: [
    {
      id: ChainId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
      workspace_id: WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
      name: "Close the day",
      steps: [
        {
          name: "close",
          url: "https://api.example.com/days/today/close",
          method: "POST",
          headers: {},
          body: null,
          timeout_seconds: 30,
          retry_count: 3,
          run_if: "success"
        }
      ],
      schedule: "0 18 * * MON-FRI",
      timezone: "UTC",
      overlap: "skip",
      missed: "once",
      dst_overlap: "first",
      status: "active",
      next_run_at: "2026-02-02T18:00:00.000Z",
      last_run: null,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z"
    }
  ]
})
export type Chain = typeof Chain.Type

export const ChainPage = Page("ChainPage", Chain)

export const ChainFilters = {
  status: Schema.optionalKey(TaskStatus),
  name: Schema.optionalKey(NameFilter)
}
