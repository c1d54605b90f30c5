import { Schema } from "effect"
import { Execution, ExecutionKind, ExecutionStatus, TaskId } from "../executions/Execution.ts"
import { ExecutionId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { manyIds } from "../shared/requests/ManyIds.ts"
import { Timestamp } from "../shared/Timestamp.ts"

/** How many of a workspace's latest failures are looked at for tasks that fail now. */
export const maxFailuresLookedAt = 1_000

/** How many executions of a task are looked at for its recent runs. */
export const maxExecutionsLookedAt = 100

const maxRecentRuns = 20
export const defaultRecentRuns = 12

const exampleTask = TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40")

export const ActivityQuery = {
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({
      description: "How many to show.",
      default: 20
    })
  )
}

/** A cron task or a chain whose latest run failed, with the execution that did. */
export const FailingTask = Schema.Struct({
  kind: oneOf(["cron", "chain"], {
    identifier: "RepeatingTaskKind",
    description: "What repeats: a cron task or a chain."
  }),
  task_id: TaskId,
  name: Schema.String.annotate({
    description: "The name of the task.",
    examples: ["Nightly report"]
  }),
  execution: Execution
}).annotate({
  identifier: "FailingTask",
  description: "`execution` is the latest that failed. Of a chain, it is that of the step."
})
export type FailingTask = typeof FailingTask.Type

export const FailingTasks = Schema.Struct({
  data: Schema.Array(FailingTask).annotate({ description: "The last to fail comes first." })
}).annotate({
  identifier: "FailingTasks",
  description: "Active tasks whose latest run failed."
})
export type FailingTasks = typeof FailingTasks.Type

/** A task with its next run. */
export const UpcomingRun = Schema.Struct({
  kind: ExecutionKind,
  task_id: TaskId,
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the task. Null for a delayed task without one."
  }),
  url: Schema.NullOr(Schema.String).annotate({ description: "Null for a chain." }),
  at: Timestamp.annotate({ description: "When it is due, jitter included." })
}).annotate({ identifier: "UpcomingRun" })
export type UpcomingRun = typeof UpcomingRun.Type

export const UpcomingRuns = Schema.Struct({
  data: Schema.Array(UpcomingRun).annotate({ description: "Soonest first." })
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

/** What a task is called. */
export const TaskNames = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      kind: ExecutionKind,
      task_id: TaskId,
      name: Schema.NullOr(Schema.String).annotate({
        description: "The name of the task. Null for a delayed task without one."
      }),
      url: Schema.NullOr(Schema.String).annotate({ description: "Null for a chain." })
    }).annotate({ identifier: "TaskInShort" })
  ).annotate({ description: "The tasks in no order. Those that do not exist are left out." })
}).annotate({
  identifier: "TaskNames",
  description: "The tasks that were asked for.",
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
      description: "How many runs of each task to show.",
      default: defaultRecentRuns
    })
  )
}

/** A run that has ended, as small as it can be shown. */
export const RecentRun = Schema.Struct({
  id: ExecutionId.annotate({ description: "The id of the execution, or of the run of a chain." }),
  status: ExecutionStatus,
  finished_at: Timestamp.annotate({ description: "When it ended." }),
  duration_ms: Schema.NullOr(Schema.Int).annotate({ description: "Null if it never started." })
}).annotate({
  identifier: "RecentRun"
})
export type RecentRun = typeof RecentRun.Type

export const RecentRuns = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      task_id: TaskId,
      runs: Schema.Array(RecentRun).annotate({ description: "Newest first." })
    }).annotate({ identifier: "TaskWithRecentRuns" })
  ).annotate({ description: "The tasks. Those that do not exist, or never ran, are left out." })
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
