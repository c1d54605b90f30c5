import { Schema } from "effect"
import { ChainRunId, CronTaskId, ExecutionId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Page } from "../shared/requests/Page.ts"
import { Timestamp, timestampInput, startedAt, finishedAt } from "../shared/Timestamp.ts"
import { ExecutionError } from "./ExecutionError.ts"

/** The part of an answer's body that is kept and shown. */
export const maxResponseBodyBytes = 10_000

export const ExecutionKind = oneOf(["cron", "delayed", "chain"], {
  identifier: "ExecutionKind",
  description: "The kind of task that the execution belongs to, and that `task_id` names."
})
export type ExecutionKind = typeof ExecutionKind.Type

export const ExecutionTrigger = oneOf(["schedule", "manual", "retry", "chain", "rerun"], {
  identifier: "ExecutionTrigger",
  description:
    "`schedule`: its time had come. `manual`: somebody asked for it. `retry`: the node that " +
    "ran it before was lost. `chain`: it is a step of a chain run. `rerun`: it repeats one that had " +
    "ended, and has its `scheduled_for`."
})
export type ExecutionTrigger = typeof ExecutionTrigger.Type

export const ExecutionStatus = oneOf(
  ["queued", "running", "succeeded", "failed", "cancelled", "skipped"],
  {
    identifier: "ExecutionStatus",
    description:
      "`succeeded`: an attempt's answer counted as a success, or its job reported one. " +
      "`failed`: none did. `skipped`: the run before it was still going on and `overlap` is `skip`."
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

/** Of a run that was answered and is not done. */
export const awaitingFields = {
  awaiting_completion_since: Schema.optionalKey(
    Timestamp.annotate({
      description: "When the call was answered. Its job has not reported to the completion URL yet."
    })
  )
}

/** Of an execution, in all its attempts. */
export const maxProgressLines = 50

/** A longer line is cut. */
export const maxProgressBytes = 500

export const ProgressLine = Schema.Struct({
  at: Timestamp.annotate({ description: "When the line arrived." }),
  attempt: Schema.Int.annotate({ description: "Which attempt said it.", examples: [1] }),
  text: Schema.String.annotate({
    description: "The first line, cut at 500 bytes.",
    examples: ["21 of 42 rows"]
  })
}).annotate({ identifier: "ProgressLine" })
export type ProgressLine = typeof ProgressLine.Type

const fields = {
  id: ExecutionId,
  kind: ExecutionKind,
  task_id: TaskId,
  chain_run_id: Schema.NullOr(ChainRunId).annotate({
    description: "The run that the step belongs to. Null outside of chains."
  }),
  step: Schema.NullOr(Schema.String).annotate({ description: "The name of the chain's step." }),
  trigger: ExecutionTrigger,
  status: ExecutionStatus,
  scheduled_for: Timestamp.annotate({ description: "When it was due." }),
  started_at: startedAt,
  finished_at: finishedAt,
  lateness_ms: Schema.NullOr(Schema.Int).annotate({
    description: "From `scheduled_for` to `started_at`. Null until it starts, and for a `rerun`."
  }),
  duration_ms: Schema.NullOr(Schema.Int).annotate({
    description: "From `started_at` to `finished_at`, including retries and the waits between them."
  }),
  attempts_count: Schema.Int.annotate({ description: "How many attempts were made so far." }),
  status_code: Schema.NullOr(Schema.Int).annotate({
    description: "The status code that answered the last attempt. Null if no answer came."
  }),
  error: Schema.NullOr(ExecutionError).annotate({
    description:
      "Why the last attempt failed, or why no attempt was made. Never null when `status` is `failed`."
  }),
  ...awaitingFields
}

const example = {
  id: ExecutionId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
  kind: "cron",
  task_id: TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
  chain_run_id: null,
  step: null,
  trigger: "schedule",
  status: "succeeded",
  scheduled_for: "2026-01-31T09:30:00.000Z",
  started_at: "2026-01-31T09:30:00.004Z",
  finished_at: "2026-01-31T09:30:00.131Z",
  lateness_ms: 4,
  duration_ms: 127,
  attempts_count: 1,
  status_code: 200,
  error: null
} as const

/** One run of a task or of a chain's step, as lists show it. */
export const Execution = Schema.Struct(fields).annotate({
  identifier: "Execution",
  description: "One run of a task, or of a step of a chain.",
  examples: [example]
})
export type Execution = typeof Execution.Type

export const ExecutionPage = Page("ExecutionPage", Execution)

/** One attempt at the call. */
export const Attempt = Schema.Struct({
  number: Schema.Int.annotate({ description: "Counted from 1." }),
  started_at: Timestamp.annotate({ description: "When it started." }),
  finished_at: Schema.NullOr(Timestamp).annotate({
    description: "Null if the node was lost, because then nobody knows how it ended."
  }),
  status_code: Schema.NullOr(Schema.Int).annotate({
    description: "The status code of the answer. Null if no answer came."
  }),
  response_body: Schema.NullOr(Schema.String).annotate({
    description: "The first 10,000 bytes of the answer."
  }),
  error: Schema.NullOr(ExecutionError).annotate({
    description: "Why it failed. Null if it did not fail."
  })
}).annotate({ identifier: "Attempt" })
export type Attempt = typeof Attempt.Type

export const ExecutionDetail = Schema.Struct({
  ...fields,
  attempts: Schema.Array(Attempt).annotate({ description: "Every attempt, the first one first." }),
  progress: Schema.optionalKey(
    Schema.Array(ProgressLine).annotate({
      description: `The last ${maxProgressLines} lines that the job sent to \`/log\`, oldest first.`
    })
  )
}).annotate({
  identifier: "ExecutionDetail",
  description: "An execution with every attempt, oldest first.",
  examples: [
    {
      ...example,
      attempts: [
        {
          number: 1,
          started_at: "2026-01-31T09:30:00.004Z",
          finished_at: "2026-01-31T09:30:00.131Z",
          status_code: 200,
          response_body: '{"ok":true}',
          error: null
        }
      ]
    }
  ]
})
export type ExecutionDetail = typeof ExecutionDetail.Type

/** A task's latest execution, as the task shows it. */
export const LastRun = Schema.Struct({
  execution_id: ExecutionId,
  status: ExecutionStatus,
  finished_at: finishedAt
}).annotate({ identifier: "LastRun", description: "The latest execution." })
export type LastRun = typeof LastRun.Type

/** Which of the runs that are scheduled for later a list shows. */
export const ScheduledFilters = {
  kind: Schema.optionalKey(ExecutionKind),
  task_id: Schema.optionalKey(TaskId)
}

/**
 * Which executions a list shows. `from` is inclusive and `to` exclusive. Both refer to
 * `scheduled_for`.
 */
export const ExecutionFilters = {
  kind: Schema.optionalKey(ExecutionKind),
  task_id: Schema.optionalKey(TaskId),
  status: Schema.optionalKey(ExecutionStatus),
  from: Schema.optionalKey(timestampInput("Scheduled for this time or later.")),
  to: Schema.optionalKey(timestampInput("Scheduled before this time."))
}
