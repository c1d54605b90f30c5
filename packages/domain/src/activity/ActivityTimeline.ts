import { Result, Schema } from "effect"
import { TaskId } from "../executions/Execution.ts"
import { Actor } from "../shared/Actor.ts"
import { QueueId, WorkerId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { Timestamp, timestampInput } from "../shared/Timestamp.ts"
import { issueAt, type ValidationIssue } from "../shared/ValidationIssue.ts"

const day = 86_400_000

/** The maximum length of a timeline: 30 days back and 7 days ahead, with a day to spare. */
export const maxTimelineDays = 38

/** The maximum number of tasks that have their own lane (a row of the timeline). */
export const maxTimelineLanes = 500

/** The maximum number of executions that a timeline with short buckets reads. */
export const maxTimelineExecutions = 100_000

/** The lengths of buckets in milliseconds. All divide a day, so buckets start at round times. */
const bucketLengths = [1_000, 10_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000]

/** The maximum number of buckets: about one per 3 pixels on a wide screen. */
const maxBuckets = 400

export const ActivityTimelineQuery = {
  from: Schema.optionalKey(
    timestampInput(
      "The start, inclusive. Defaults to two days before `to`. Rounded to the start of a bucket."
    )
  ),
  to: Schema.optionalKey(
    timestampInput(
      "The end, exclusive. Defaults to a day from now. Rounded to the end of a bucket."
    )
  ),
  by_task: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "`false`: only the lane `other`, with the runs of all tasks, but without planned runs.",
      default: true
    })
  )
}

export interface ActivityTimelineRange {
  readonly from: number
  readonly to: number
  readonly bucketMs: number
}

/** Returns the range of a timeline, extended to whole buckets. */
export const activityTimelineRange = (
  query: { readonly from?: Timestamp; readonly to?: Timestamp },
  now: number
): Result.Result<ActivityTimelineRange, ValidationIssue> => {
  const to = query.to === undefined ? now + day : Date.parse(query.to)
  const from = query.from === undefined ? Math.max(0, to - 2 * day) : Date.parse(query.from)
  if (from >= to) {
    return Result.fail(
      issueAt(["from"], "out_of_range", "must be before to, which defaults to a day from now")
    )
  }
  if (to - from > maxTimelineDays * day) {
    const message = `must be at most ${maxTimelineDays} days before to`
    return Result.fail(issueAt(["from"], "out_of_range", message))
  }
  const bucketMs =
    bucketLengths.find((length) => to - from <= length * maxBuckets) ?? bucketLengths.at(-1) ?? day
  return Result.succeed({
    from: Math.floor(from / bucketMs) * bucketMs,
    to: Math.ceil(to / bucketMs) * bucketMs,
    bucketMs
  })
}

const counted = (which: string) =>
  Schema.Array(Schema.Int).annotate({
    description: `The ${which} executions per bucket, as pairs in one flat array: the bucket's index, then the number of executions. Earliest first, without empty buckets.`
  })

const finished = {
  succeeded: counted("succeeded"),
  failed: counted("failed"),
  other: counted("cancelled and skipped")
}

/** The runs of one task, or of all tasks without their own lane. */
export const ActivityLane = Schema.Struct({
  kind: oneOf(["cron", "chain", "other"], {
    identifier: "ActivityLaneKind",
    description:
      "`other`: all delayed tasks, deleted tasks, and tasks beyond the maximum number of lanes. With `by_task=false`, all tasks."
  }),
  task_id: Schema.NullOr(TaskId).annotate({ description: "The task. Null for `other`." }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "The name of the task. Null for `other`.",
    examples: ["Nightly report"]
  }),
  tags: Schema.Array(Schema.String).annotate({ description: "The tags of the task." }),
  queue_id: Schema.NullOr(QueueId).annotate({ description: "The queue of the task, if any." }),
  paused: Schema.Boolean.annotate({
    description: "True if the task is paused now. Always false for `other`."
  }),
  ...finished,
  running: counted("queued and running"),
  planned: counted("planned")
}).annotate({ identifier: "ActivityLane" })
export type ActivityLane = typeof ActivityLane.Type

/** The runs of one worker. */
export const WorkerLane = Schema.Struct({ worker_id: WorkerId, ...finished }).annotate({
  identifier: "WorkerLane"
})
export type WorkerLane = typeof WorkerLane.Type

/** A period in which a record was paused. */
const ActivityPause = Schema.Struct({
  subject_id: Schema.String.annotate({
    description: "The id of the task, monitor, queue or worker."
  }),
  paused_at: Timestamp.annotate({ description: "When it was paused." }),
  resumed_at: Schema.NullOr(Timestamp).annotate({
    description: "When it was resumed. Null if it is still paused."
  }),
  paused_by: Schema.NullOr(Actor).annotate({ description: "Who paused it. Null if unknown." }),
  reason: Schema.NullOr(Schema.String).annotate({
    description: "Why the service paused it. Null if it did not."
  })
}).annotate({ identifier: "ActivityPause" })

export const ActivityTimeline = Schema.Struct({
  from: Timestamp.annotate({ description: "The start of the first bucket." }),
  to: Timestamp.annotate({ description: "The end of the last bucket." }),
  now: Timestamp.annotate({ description: "When the timeline was read. Planned runs start here." }),
  bucket_seconds: Schema.Int.annotate({ description: "The length of a bucket in seconds." }),
  complete_from: Timestamp.annotate({
    description:
      `The time from which all executions are counted: \`from\`, or later if there are more than ` +
      `${maxTimelineExecutions.toLocaleString("en")}.`
  }),
  has_all_plans: Schema.Boolean.annotate({
    description: "False if the schedules have more slots than are computed for one timeline."
  }),
  has_all_lanes: Schema.Boolean.annotate({
    description: "False if the lane `other` includes cron tasks or chains that exist."
  }),
  lanes: Schema.Array(ActivityLane).annotate({
    description: "The tasks, newest first, and the lane `other` at the end."
  }),
  workers: Schema.Array(WorkerLane).annotate({
    description: "The workers that ran something. Empty if a bucket is an hour or longer."
  }),
  pauses: Schema.Array(ActivityPause).annotate({
    description:
      "The pauses in the range, as far back as the audit log goes, earliest first. Empty with `by_task=false`."
  })
}).annotate({
  identifier: "ActivityTimeline",
  description: "The runs of a workspace in a time range.",
  examples: [
    {
      from: "2026-01-31T09:00:00.000Z",
      to: "2026-01-31T10:00:00.000Z",
      now: "2026-01-31T09:31:12.000Z",
      bucket_seconds: 60,
      complete_from: "2026-01-31T09:00:00.000Z",
      has_all_plans: true,
      has_all_lanes: true,
      lanes: [
        {
          kind: "cron",
          task_id: TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"),
          name: "Nightly report",
          tags: ["reports"],
          queue_id: null,
          paused: false,
          succeeded: [0, 1, 10, 1],
          failed: [20, 1],
          other: [],
          running: [30, 1],
          planned: [40, 1, 50, 1]
        }
      ],
      workers: [],
      pauses: [
        {
          subject_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d44",
          paused_at: "2026-01-31T09:12:00.000Z",
          resumed_at: null,
          paused_by: {
            kind: "user",
            id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43",
            name: "Ada Lovelace"
          },
          reason: null
        }
      ]
    }
  ]
})
export type ActivityTimeline = typeof ActivityTimeline.Type
