import { Schema } from "effect"
import { Execution, ExecutionKind, ExecutionStatus, TaskId } from "../executions/Execution.ts"
import { ExecutionId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { manyIds } from "../shared/requests/ManyIds.ts"
import { Timestamp } from "../shared/Timestamp.ts"

/** The maximum number of a workspace's latest failures that are searched for failing tasks. */
export const maxExaminedFailures = 1_000

/** The maximum number of a task's latest executions that are searched for its recent runs. */
export const maxExaminedExecutions = 100

const maxRecentRuns = 20
export const defaultRecentRuns = 12

const exampleTask = TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40")

export const ActivityQuery = {
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
      description: "The maximum number of results.",
      default: 20
    })
  )
}

/** A cron task or a chain whose latest run failed, with the failed execution. */
export const FailingTask = Schema.Struct({
  kind: oneOf(["cron", "chain"], {
    identifier: "RepeatingTaskKind",
    description: "A cron task or a chain."
  }),
  task_id: TaskId,
  name: Schema.String.annotate({
    description: "The name of the task.",
    examples: ["Nightly report"]
  }),
  execution: Execution
}).annotate({
  identifier: "FailingTask",
  description:
    "`execution` is the latest failed execution. For a chain, the execution of the failed step."
})
export type FailingTask = typeof FailingTask.Type

export const FailingTasks = Schema.Struct({
  data: Schema.Array(FailingTask).annotate({
    description: "The failing tasks, latest failure first."
  })
}).annotate({
  identifier: "FailingTasks",
  description: "Active tasks whose latest run failed."
})
export type FailingTasks = typeof FailingTasks.Type

/** A task, and when it will run next. */
export const UpcomingRun = Schema.Struct({
  kind: ExecutionKind,
  task_id: TaskId,
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the task. Null for a delayed task without one."
  }),
  url: Schema.NullOr(Schema.String).annotate({
    description: "The URL that the task calls. Null for a chain."
  }),
  at: Timestamp.annotate({ description: "When the run is due, including jitter." })
}).annotate({ identifier: "UpcomingRun" })
export type UpcomingRun = typeof UpcomingRun.Type

export const UpcomingRuns = Schema.Struct({
  data: Schema.Array(UpcomingRun).annotate({ description: "The next runs, soonest first." })
}).annotate({
  identifier: "UpcomingRuns",
  description: "The next run of each task that has one.",
  examples: [
    {
      data: [
        {
          kind: "cron",
          task_id: exampleTask,
          name: "Nightly report",
          url: "https://api.example.com/jobs/nightly",
          at: "2026-01-31T09:30:00.000Z"
        }
      ]
    }
  ]
})
export type UpcomingRuns = typeof UpcomingRuns.Type

export const TaskNamesQuery = { task_ids: manyIds("tasks of all kinds", exampleTask) }

export const TaskNames = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      kind: ExecutionKind,
      task_id: TaskId,
      name: Schema.NullOr(Schema.String).annotate({
        description: "The name of the task. Null for a delayed task without one."
      }),
      url: Schema.NullOr(Schema.String).annotate({
        description: "The URL that the task calls. Null for a chain."
      })
    }).annotate({ identifier: "TaskInShort" })
  ).annotate({ description: "The tasks, in no particular order. Unknown ids are omitted." })
}).annotate({
  identifier: "TaskNames",
  description: "The requested tasks.",
  examples: [
    {
      data: [
        {
          kind: "cron",
          task_id: exampleTask,
          name: "Nightly report",
          url: "https://api.example.com/jobs/nightly"
        }
      ]
    }
  ]
})
export type TaskNames = typeof TaskNames.Type

export const RecentRunsQuery = {
  task_ids: manyIds("cron tasks and chains", exampleTask),
  runs: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxRecentRuns })).annotate({
      description: "The maximum number of runs per task.",
      default: defaultRecentRuns
    })
  )
}

/** A minimal summary of a finished run. */
export const RecentRun = Schema.Struct({
  id: ExecutionId.annotate({ description: "The id of the execution or of the chain run." }),
  status: ExecutionStatus,
  finished_at: Timestamp.annotate({ description: "When the run finished." }),
  duration_ms: Schema.NullOr(Schema.Int).annotate({
    description: "The duration of the run. Null if it never started."
  })
}).annotate({
  identifier: "RecentRun"
})
export type RecentRun = typeof RecentRun.Type

export const RecentRuns = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      task_id: TaskId,
      runs: Schema.Array(RecentRun).annotate({ description: "The runs, newest first." })
    }).annotate({ identifier: "TaskWithRecentRuns" })
  ).annotate({ description: "The tasks. Unknown tasks and tasks that never ran are omitted." })
}).annotate({
  identifier: "RecentRuns",
  description: "The latest runs of each task that has any.",
  examples: [
    {
      data: [
        {
          task_id: exampleTask,
          runs: [
            {
              id: ExecutionId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"),
              status: "succeeded",
              finished_at: "2026-01-31T09:30:00.131Z",
              duration_ms: 127
            }
          ]
        }
      ]
    }
  ]
})
export type RecentRuns = typeof RecentRuns.Type
