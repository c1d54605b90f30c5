import { Schema, Struct } from "effect"
import { mask } from "../calls/credentialHeaders.ts"
import { CallMethod } from "../calls/HttpCall.ts"
import { Execution, ExecutionStatus } from "../executions/Execution.ts"
import { ExecutionError } from "../executions/ExecutionError.ts"
import { runInputField } from "../executions/RunRequest.ts"
import { ChainId, ChainRunId, ExecutionId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { Timestamp, startedAt, finishedAt } from "../shared/Timestamp.ts"

export const ChainRunStepStatus = oneOf(["pending", ...ExecutionStatus.literals], {
  identifier: "ChainRunStepStatus",
  description:
    "`pending`: the step has not started. `skipped`: its `run_if` did not apply, or the run was cancelled before the step started."
})
export type ChainRunStepStatus = typeof ChainRunStepStatus.Type

const executionFields = {
  id: ExecutionId,
  started_at: startedAt,
  finished_at: finishedAt,
  ...Struct.pick(Execution.fields, [
    "duration_ms",
    "status_code",
    "awaiting_completion_since",
    "waits_until",
    "approval"
  ]),
  error: Schema.NullOr(ExecutionError).annotate({
    description: "Why the step failed. Null if it did not fail."
  })
}

/**
 * A summary of a step's execution. The executions endpoint returns the full execution under the
 * same id.
 */
export const StepExecution = Schema.Struct(executionFields).annotate({
  identifier: "StepExecution"
})
export type StepExecution = typeof StepExecution.Type

/** A step's execution with its response. */
export const StepExecutionDetail = Schema.Struct({
  ...executionFields,
  response_body: Schema.NullOr(Schema.String).annotate({
    description: "The first 10,000 bytes of the last response. Null until the step has finished."
  })
}).annotate({ identifier: "StepExecutionDetail" })
export type StepExecutionDetail = typeof StepExecutionDetail.Type

/** A step's request, in which references to earlier responses are replaced by their values. */
export const StepRequest = Schema.Struct({
  method: CallMethod,
  url: Schema.String.annotate({ description: "The URL that was called." }),
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description:
      "The request headers without those that the service adds, such as the signature. Values that look like credentials " +
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
    description: "A summary of the step's execution. Null if the step has not started."
  })

const runFields = {
  id: ChainRunId,
  chain_id: ChainId,
  trigger: Schema.Literals(["schedule", "manual", "rerun"]).annotate({
    description: "What started the run."
  }),
  status: ExecutionStatus,
  scheduled_for: Timestamp.annotate({ description: "When the run was due." }),
  started_at: startedAt,
  finished_at: finishedAt
}

const description =
  "A chain run is `queued` until its first step starts. It is `failed` if any step failed, even if later steps succeeded. Skipped steps do not count as failures. Cancelling a step's execution ends the run as " +
  "`cancelled`. It is `skipped` if the previous run was still in progress and `overlap` is " +
  "`skip`."

const exampleWith = <Response extends object>(response: Response) =>
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
          waits_until: null,
          approval: null,
          ...response
        }
      },
      { name: "close", status: "pending", execution: null }
    ]
  }) as const

/** A run of all of a chain's steps, as they were defined when the run started. */
export const ChainRun = Schema.Struct({
  ...runFields,
  steps: Schema.Array(
    Schema.Struct({ ...stepFields, execution: executionOf(StepExecution) }).annotate({
      identifier: "ChainRunStep"
    })
  ).annotate({ description: "The steps, in the order in which they run." })
}).annotate({ identifier: "ChainRun", description, examples: [exampleWith({})] })
export type ChainRun = typeof ChainRun.Type

/** A chain run with its steps' responses. */
export const ChainRunDetail = Schema.Struct({
  ...runFields,
  input: runInputField,
  steps: Schema.Array(
    Schema.Struct({ ...stepFields, execution: executionOf(StepExecutionDetail) }).annotate({
      identifier: "ChainRunStepDetail"
    })
  ).annotate({ description: "The steps, in the order in which they run." })
}).annotate({
  identifier: "ChainRunDetail",
  description,
  examples: [{ ...exampleWith({ response_body: '{"token":"t-1"}' }), input: null }]
})
export type ChainRunDetail = typeof ChainRunDetail.Type

export const ChainRunPage = Page("ChainRunPage", ChainRun)
