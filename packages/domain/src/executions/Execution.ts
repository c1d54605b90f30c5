import { Schema } from "effect"
import { mask } from "../calls/credentialHeaders.ts"
import { CallMethod } from "../calls/HttpCall.ts"
import { ChainRunId, CronTaskId, ExecutionId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { CountedPage } from "../shared/requests/Page.ts"
import { repeatable } from "../shared/requests/repeatable.ts"
import { tagFilter } from "../shared/Tags.ts"
import { Timestamp, timestampInput, startedAt, finishedAt } from "../shared/Timestamp.ts"
import { PendingApproval } from "./PendingApproval.ts"
import { ExecutionError } from "./ExecutionError.ts"
import { runInputField } from "./RunRequest.ts"

/** How many bytes of a response body are stored and shown. */
export const maxResponseBodyBytes = 10_000

export const ExecutionKind = oneOf(["cron", "delayed", "chain"], {
  identifier: "ExecutionKind",
  description: "The kind of task that the execution belongs to, and that `task_id` names."
})
export type ExecutionKind = typeof ExecutionKind.Type

export const ExecutionTrigger = oneOf(
  ["schedule", "manual", "retry", "chain", "rerun", "backfill"],
  {
    identifier: "ExecutionTrigger",
    description:
      "`schedule`: the run was due. `manual`: somebody started it. `retry`: the node that " +
      "ran it before was lost. `chain`: it is a step of a chain run. `rerun`: it repeats a finished " +
      "execution, and has the same `scheduled_for`. `backfill`: it makes up for a past slot, whose time is its " +
      "`scheduled_for`."
  }
)
export type ExecutionTrigger = typeof ExecutionTrigger.Type

export const ExecutionStatus = oneOf(
  ["queued", "running", "succeeded", "failed", "cancelled", "skipped"],
  {
    identifier: "ExecutionStatus",
    description:
      "`succeeded`: the response of an attempt counted as success, or the job reported success. " +
      "`failed`: no attempt succeeded. `skipped`: the previous run was still in progress and `overlap` is `skip`."
  }
)
export type ExecutionStatus = typeof ExecutionStatus.Type

/** The id of the cron task, delayed task or chain that was executed. */
export const TaskId = Schema.String.check(
  Schema.makeFilter(Schema.is(CronTaskId), {
    expected: "a UUID",
    toJsonSchema: () => ({ format: "uuid" })
  })
)
  .annotate({
    description: "The id of a cron task, a delayed task or a chain.",
    examples: ["019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"]
  })
  .pipe(Schema.brand("TaskId"))
export type TaskId = typeof TaskId.Type

/** The maximum number of an execution's progress lines, across all its attempts. */
export const maxProgressLines = 50

/** The maximum number of bytes of a progress line. Longer lines are truncated. */
export const maxProgressLineBytes = 500

export const ProgressLine = Schema.Struct({
  at: Timestamp.annotate({ description: "When the line arrived." }),
  attempt: Schema.Int.annotate({
    description: "The number of the attempt that sent the line.",
    examples: [1]
  }),
  text: Schema.String.annotate({
    description: "The first line of the message, truncated to 500 bytes.",
    examples: ["21 of 42 rows"]
  })
}).annotate({ identifier: "ProgressLine" })
export type ProgressLine = typeof ProgressLine.Type

const fields = {
  id: ExecutionId,
  kind: ExecutionKind,
  task_id: TaskId,
  chain_run_id: Schema.NullOr(ChainRunId).annotate({
    description: "The chain run that the step belongs to. Null if the execution is not a step."
  }),
  step: Schema.NullOr(Schema.String).annotate({
    description: "The name of the chain's step. Null if the execution is not a step."
  }),
  flow_key: Schema.NullOr(Schema.String).annotate({
    description:
      "The key of the task's `flow`, filled in for this run. Null if the task has no flow, and for runs and steps that were skipped.",
    examples: ["customer:ada"]
  }),
  trigger: ExecutionTrigger,
  status: ExecutionStatus,
  scheduled_for: Timestamp.annotate({ description: "When the execution was due." }),
  started_at: startedAt,
  finished_at: finishedAt,
  lateness_ms: Schema.NullOr(Schema.Int).annotate({
    description:
      "From `scheduled_for` to `started_at`. Null until it starts, for a `rerun` and for a `backfill`."
  }),
  duration_ms: Schema.NullOr(Schema.Int).annotate({
    description:
      "From `started_at` to `finished_at`, including retries and the delays between them."
  }),
  attempts_count: Schema.Int.annotate({ description: "The number of attempts made so far." }),
  status_code: Schema.NullOr(Schema.Int).annotate({
    description: "The status code of the last attempt's response. Null if there was no response."
  }),
  error: Schema.NullOr(ExecutionError).annotate({
    description:
      "Why the last attempt failed, or why no attempt was made. Never null when `status` is `failed`."
  }),
  awaiting_completion_since: Schema.NullOr(Timestamp).annotate({
    description:
      "When the response arrived, if the job has yet to report to the completion URL. Otherwise null."
  }),
  waits_until: Schema.NullOr(Timestamp).annotate({
    description: "When a step of the kind `wait` ends, while it waits. Otherwise null."
  }),
  approval: Schema.NullOr(PendingApproval).annotate({
    description:
      "What a step of the kind `approve` waits for, until somebody decides. Otherwise null."
  })
}

const example = {
  id: ExecutionId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  kind: "cron",
  task_id: TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
  chain_run_id: null,
  step: null,
  flow_key: null,
  trigger: "schedule",
  status: "succeeded",
  scheduled_for: "2026-01-31T09:30:00.000Z",
  started_at: "2026-01-31T09:30:00.004Z",
  finished_at: "2026-01-31T09:30:00.131Z",
  lateness_ms: 4,
  duration_ms: 127,
  attempts_count: 1,
  status_code: 200,
  error: null,
  awaiting_completion_since: null,
  waits_until: null,
  approval: null
} as const

/** One run of a task or of a chain's step, as in lists. */
const namedExecution = Schema.Struct(fields).annotate({
  identifier: "Execution",
  description: "One run of a task, or of a step of a chain.",
  examples: [example]
})

/**
 * An interface gives the type a name. Otherwise, declarations would repeat the whole type at each
 * endpoint.
 */
export interface ExecutionSchema extends NamedExecution {}
type NamedExecution = typeof namedExecution
export const Execution: ExecutionSchema = namedExecution
export type Execution = typeof Execution.Type

export const ExecutionPage = CountedPage("ExecutionPage", Execution)

/** The request that an attempt sent. */
export const AttemptRequest = Schema.Struct({
  method: CallMethod,
  url: Schema.String.annotate({
    description: "The URL that was called.",
    examples: ["https://api.example.com/days/close"]
  }),
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description:
      "The headers of the task and the headers that the service adds, except the signature. Values that look like " +
      `credentials are shown as \`${mask}\`.`,
    examples: [{ "content-type": "application/json", authorization: mask }]
  }),
  body: Schema.NullOr(Schema.String).annotate({
    description: "The request body. Null if there is none."
  })
}).annotate({ identifier: "AttemptRequest" })
export type AttemptRequest = typeof AttemptRequest.Type

/** The node or worker that made an attempt. */
export const AttemptMaker = Schema.Struct({
  kind: oneOf(["node", "worker"], {
    identifier: "AttemptMakerKind",
    description: "`node`: the service. `worker`: the agent of a worker."
  }),
  id: Schema.String.annotate({
    description: "The number of the node, or the id of the worker.",
    examples: ["12"]
  }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the worker. Null for a node and for a deleted worker."
  })
}).annotate({ identifier: "AttemptMaker" })
export type AttemptMaker = typeof AttemptMaker.Type

const milliseconds = (description: string) =>
  Schema.NullOr(Schema.Int).annotate({ description, examples: [12] })

/** One attempt to make the call. */
export const Attempt = Schema.Struct({
  number: Schema.Int.annotate({ description: "The number of the attempt, starting at 1." }),
  started_at: Timestamp.annotate({ description: "When the attempt started." }),
  finished_at: Schema.NullOr(Timestamp).annotate({
    description: "When the attempt finished. Null if it is running, or if its node was lost."
  }),
  status_code: Schema.NullOr(Schema.Int).annotate({
    description: "The status code of the response. Null if there was no response."
  }),
  response_headers: Schema.NullOr(Schema.Record(Schema.String, Schema.String)).annotate({
    description:
      "The first 4 kB of the response headers, with names in lower case and without connection headers. Values that look like credentials are masked. Null if there was no response."
  }),
  response_body: Schema.NullOr(Schema.String).annotate({
    description: "The first 10,000 bytes of the response body."
  }),
  error: Schema.NullOr(ExecutionError).annotate({
    description: "Why the attempt failed. Null if it did not fail."
  }),
  duration_ms: milliseconds("From `started_at` to `finished_at`. Null if it has not finished."),
  dns_ms: milliseconds("The time of the DNS lookup. Null if the connection was reused."),
  connect_ms: milliseconds("The time to connect. Null if the connection was reused."),
  tls_ms: milliseconds(
    "The time of the TLS handshake. Null if the call used no TLS, or if the connection was reused."
  ),
  wait_ms: milliseconds("From sending the request to the first byte of the response."),
  made_by: Schema.NullOr(AttemptMaker).annotate({
    description: "The node or worker that made the call. Null if unknown."
  }),
  request: Schema.NullOr(AttemptRequest).annotate({
    description:
      "The request that was sent. Null if it cannot be reconstructed, because the task was changed at that moment or " +
      "more than ten times since, and for API keys without `tasks:read`."
  })
}).annotate({ identifier: "Attempt" })
export type Attempt = typeof Attempt.Type

const namedExecutionDetail = Schema.Struct({
  ...fields,
  input: runInputField,
  attempts: Schema.Array(Attempt).annotate({ description: "All attempts, oldest first." }),
  progress: Schema.Array(ProgressLine).annotate({
    description: `The last ${maxProgressLines} lines that the job sent to \`/log\`, oldest first.`
  })
}).annotate({
  identifier: "ExecutionDetail",
  description: "An execution with all its attempts, oldest first.",
  examples: [
    {
      ...example,
      input: null,
      attempts: [
        {
          number: 1,
          started_at: "2026-01-31T09:30:00.004Z",
          finished_at: "2026-01-31T09:30:00.131Z",
          status_code: 200,
          response_headers: { "content-type": "application/json" },
          response_body: '{"ok":true}',
          error: null,
          duration_ms: 127,
          dns_ms: 4,
          connect_ms: 11,
          tls_ms: 38,
          wait_ms: 70,
          made_by: { kind: "node", id: "12", name: null },
          request: {
            method: "POST",
            url: "https://api.example.com/days/close",
            headers: { "content-type": "application/json" },
            body: '{"day":"today"}'
          }
        }
      ],
      progress: []
    }
  ]
})

export interface ExecutionDetailSchema extends NamedExecutionDetail {}
type NamedExecutionDetail = typeof namedExecutionDetail
export const ExecutionDetail: ExecutionDetailSchema = namedExecutionDetail
export type ExecutionDetail = typeof ExecutionDetail.Type

/** A task's latest execution, as part of the task. */
export const LastRun = Schema.Struct({
  execution_id: ExecutionId,
  status: ExecutionStatus,
  finished_at: finishedAt
}).annotate({ identifier: "LastRun", description: "The latest execution." })
export type LastRun = typeof LastRun.Type

/** Filters of a list of runs that are scheduled for later. */
export const ScheduledFilters = {
  kind: Schema.optionalKey(repeatable(ExecutionKind, "The kind of the task")),
  task_id: Schema.optionalKey(repeatable(TaskId, "The id of the task")),
  tag: Schema.optionalKey(tagFilter("One of the task's current tags"))
}

/**
 * Filters of a list of executions. `from` is inclusive, `to` is exclusive; both refer to
 * `scheduled_for`.
 */
export const ExecutionFilters = {
  ...ScheduledFilters,
  status: Schema.optionalKey(repeatable(ExecutionStatus, "The status of the execution")),
  trigger: Schema.optionalKey(repeatable(ExecutionTrigger, "The trigger of the execution")),
  status_code: Schema.optionalKey(
    repeatable(
      Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 })),
      "The status code of the last attempt's response"
    )
  ),
  min_duration_ms: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 })).annotate({
      description: "The minimum duration, in milliseconds. Excludes unfinished executions.",
      examples: [1_000]
    })
  ),
  from: Schema.optionalKey(timestampInput("Scheduled for this time or later.")),
  to: Schema.optionalKey(timestampInput("Scheduled before this time."))
}
