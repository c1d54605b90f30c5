import { Schema, Struct } from "effect"
import { mask } from "../calls/credentialHeaders.ts"
import { CallMethod } from "../calls/HttpCall.ts"
import { Execution, ExecutionStatus } from "../executions/Execution.ts"
import { ExecutionError } from "../executions/ExecutionError.ts"
import { shownInput } from "../executions/RunRequest.ts"
import { ChainId, ChainRunId, ExecutionId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { Timestamp, startedAt, finishedAt } from "../shared/Timestamp.ts"

export const ChainRunStepStatus = oneOf(["pending", ...ExecutionStatus.literals], {
  identifier: "ChainRunStepStatus",
  description:
    "`pending`: its turn has not come. `skipped`: its `run_if` did not hold, or the run was " +
    "cancelled before it."
})
export type ChainRunStepStatus = typeof ChainRunStepStatus.Type

const executionFields = {
  id: ExecutionId,
  started_at: startedAt,
  finished_at: finishedAt,
  ...Struct.pick(Execution.fields, ["duration_ms", "status_code", "awaiting_completion_since"]),
  error: Schema.NullOr(ExecutionError).annotate({
    description: "Why it failed. Null if it did not fail."
  })
}

/** A step's execution in short. The executions endpoint shows all of it under this id. */
export const StepExecution = Schema.Struct(executionFields).annotate({
  identifier: "StepExecution"
})
export type StepExecution = typeof StepExecution.Type

/** The execution together with its answer. */
export const StepExecutionDetail = Schema.Struct({
  ...executionFields,
  response_body: Schema.NullOr(Schema.String).annotate({
    description: "The first 10,000 bytes of the last answer. Null until the step has ended."
  })
}).annotate({ identifier: "StepExecutionDetail" })
export type StepExecutionDetail = typeof StepExecutionDetail.Type

/** What a step asked for, filled in with the answers of earlier steps. */
export const StepRequest = Schema.Struct({
  method: CallMethod,
  url: Schema.String.annotate({ description: "The address that was called." }),
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description:
      "Without those that the service adds, such as the signature. Values that look like credentials " +
      `are shown as \`${mask}\`.`
  }),
  body: Schema.NullOr(Schema.String).annotate({
    description: "The body of the call. Null if it had none."
  })
}).annotate({
  identifier: "StepRequest",
  examples: [
    {
      method: "POST",
      url: "https://api.example.com/days/2026-02-02/close",
      headers: { authorization: mask },
      body: null
    }
  ]
})
export type StepRequest = typeof StepRequest.Type

const stepFields = {
  name: Schema.String.annotate({ description: "The name of the step." }),
  status: ChainRunStepStatus
}

const executionOf = <S extends Schema.Top>(execution: S) =>
  Schema.NullOr(execution).annotate({
    description: "The execution of the step in short. Null if there is none yet."
  })

const runFields = {
  id: ChainRunId,
  chain_id: ChainId,
  trigger: Schema.Literals(["schedule", "manual", "rerun"]).annotate({
    description: "What started it."
  }),
  status: ExecutionStatus,
  scheduled_for: Timestamp.annotate({ description: "When it was due." }),
  started_at: startedAt,
  finished_at: finishedAt
}

const description =
  "It is `queued` until its first step starts. It has `failed` if a step failed, whatever ran " +
  "after it. Skipped steps do not count as failures. Cancelling a step's execution ends it as " +
  "`cancelled`. It is `skipped` when the run before it was still going on and `overlap` is " +
  "`skip`."

const exampleOf = <Answer extends object>(answer: Answer) =>
  ({
    id: ChainRunId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
    chain_id: ChainId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
    trigger: "schedule",
    status: "running",
    scheduled_for: "2026-02-02T18:00:00.000Z",
    started_at: "2026-02-02T18:00:00.004Z",
    finished_at: null,
    steps: [
      {
        name: "login",
        status: "succeeded",
        execution: {
          id: ExecutionId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
          started_at: "2026-02-02T18:00:00.004Z",
          finished_at: "2026-02-02T18:00:00.131Z",
          duration_ms: 127,
          status_code: 200,
          error: null,
          awaiting_completion_since: null,
          ...answer
        }
      },
      { name: "close", status: "pending", execution: null }
    ]
  }) as const

/** One run of all steps. They are the steps that the chain had when the run started. */
export const ChainRun = Schema.Struct({
  ...runFields,
  steps: Schema.Array(
    Schema.Struct({ ...stepFields, execution: executionOf(StepExecution) }).annotate({
      identifier: "ChainRunStep"
    })
  ).annotate({ description: "The steps, in the order in which they run." })
}).annotate({ identifier: "ChainRun", description, examples: [exampleOf({})] })
export type ChainRun = typeof ChainRun.Type

/** A run with the answers of its steps. */
export const ChainRunDetail = Schema.Struct({
  ...runFields,
  input: shownInput,
  steps: Schema.Array(
    Schema.Struct({ ...stepFields, execution: executionOf(StepExecutionDetail) }).annotate({
      identifier: "ChainRunStepDetail"
    })
  ).annotate({ description: "The steps, in the order in which they run." })
}).annotate({
  identifier: "ChainRunDetail",
  description,
  examples: [{ ...exampleOf({ response_body: '{"token":"t-1"}' }), input: null }]
})
export type ChainRunDetail = typeof ChainRunDetail.Type

export const ChainRunPage = Page("ChainRunPage", ChainRun)
