import {
  type ActivityLane,
  type ActivityTimeline,
  type ActivityTimelineQuery,
  activityTimelineRange,
  type ActivityTimelineRange,
  maxTimelineExecutions,
  maxTimelineLanes,
  type WorkerLane
} from "@scheduling/domain/activity/ActivityTimeline"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Clock, Context, Effect, Layer, Result, type Schema, Semaphore } from "effect"
import { hourMs, runInSlices } from "../../core/index.ts"
import { actorOfEvent } from "../../accounts/index.ts"
import { timestampOf, timestampOrNull } from "../../store/index.ts"
import { ForecastRepo, type SlotTiming } from "../forecast/ForecastRepo.ts"
import { maxForecastSlots } from "../forecast/Forecasts.ts"
import { visitSlots } from "../forecast/visitSlots.ts"
import {
  ActivityTimelineRepo,
  type PauseRow,
  type TimelineBucketRow,
  type TimelineLaneRow,
  type TaskTimelineBucketRow,
  type WorkerTimelineBucketRow
} from "./ActivityTimelineRepo.ts"

type Query = Schema.Struct.Type<typeof ActivityTimelineQuery>

/** Shows on a timeline when the tasks of a workspace ran and will run. */
export class ActivityTimelines extends Context.Service<
  ActivityTimelines,
  {
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      query: Query
    ) => Effect.Effect<ActivityTimeline, ValidationFailed>
  }
>()("@scheduling/server/tasks/activity/ActivityTimelines") {
  static readonly layer: Layer.Layer<
    ActivityTimelines,
    never,
    ActivityTimelineRepo | ForecastRepo
  > = Layer.effect(
    ActivityTimelines,
    Effect.gen(function* () {
      const repo = yield* ActivityTimelineRepo
      const forecasts = yield* ForecastRepo
      // Only one timeline is computed at a time, because several together would block the event
      // loop for too long.
      const oneAtATime = Semaphore.withPermit(yield* Semaphore.make(1))

      const finishedIn = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        range: ActivityTimelineRange,
        taskIds: ReadonlyArray<string>
      ) {
        if (range.bucketMs >= hourMs) {
          const rows = yield* repo.countHours(workspaceId, { ...range, taskIds })
          return { rows: splitTotals(rows), completeFrom: range.from }
        }
        const rows = yield* repo.countRows(workspaceId, { ...range, taskIds })
        const runs = rows.reduce((sum, row) => sum + runsOf(row), 0)
        // If the limit was reached, executions may be missing in the earliest bucket.
        const earliest = rows.reduce((least, { bucket }) => Math.min(least, bucket), Infinity)
        const skipped = runs < maxTimelineExecutions ? 0 : earliest + 1
        return { rows, completeFrom: range.from + skipped * range.bucketMs }
      })

      return ActivityTimelines.of({
        get: Effect.fn("ActivityTimelines.get")(function* (workspaceId, query) {
          const now = yield* Clock.currentTimeMillis
          const asked = activityTimelineRange(query, now)
          if (Result.isFailure(asked)) {
            return yield* Effect.fail(new ValidationFailed({ issues: [asked.failure] }))
          }
          const range = asked.success
          const hasLanes = query.by_task !== false
          const found = hasLanes ? yield* repo.listLanes(workspaceId) : []
          const tasks = found.slice(0, maxTimelineLanes)
          const taskIds = tasks.map(({ id }) => id)
          const { completeFrom, rows } = yield* finishedIn(workspaceId, range, taskIds)
          const running = yield* repo.countRunning(workspaceId, {
            ...range,
            taskIds,
            now: new Date(now)
          })
          const workers =
            range.bucketMs >= hourMs || !hasLanes
              ? []
              : yield* repo.countOfWorkers(workspaceId, range)
          const pauses = hasLanes ? yield* repo.listPauses(workspaceId, range) : []
          const ahead = { ...range, from: Math.max(now, range.from) }
          const delayed =
            ahead.from >= ahead.to ? [] : yield* forecasts.countDelayed(workspaceId, ahead)
          const plans = yield* oneAtATime(runInSlices(plansOf(tasks, range, now)))
          const byTask = Map.groupBy([...rows, ...running], ({ task_id }) => task_id)
          return {
            from: new Date(range.from).toISOString(),
            to: new Date(range.to).toISOString(),
            now: new Date(now).toISOString(),
            bucket_seconds: range.bucketMs / 1_000,
            complete_from: new Date(completeFrom).toISOString(),
            has_all_plans: hasLanes && plans.isWhole,
            has_all_lanes: hasLanes && found.length <= maxTimelineLanes,
            lanes: [
              ...tasks.map((task, index) =>
                toLane(task, byTask.get(task.id) ?? [], plans.byTask[index] ?? [])
              ),
              toLane(undefined, byTask.get(null) ?? [], delayedPairs(delayed, range, now))
            ],
            workers: toWorkers(workers),
            pauses: pauses.map(toPause)
          }
        })
      })
    })
  )
}

const runsOf = ({ failed, other, succeeded }: TimelineBucketRow) => succeeded + failed + other

/**
 * Subtracts the counts of tasks with a lane from the totals, which leaves the counts of all other
 * tasks.
 */
const splitTotals = (
  rows: ReadonlyArray<TaskTimelineBucketRow>
): ReadonlyArray<TaskTimelineBucketRow> => [
  ...rows.filter(({ task_id }) => task_id !== null),
  ...[...Map.groupBy(rows, ({ bucket }) => bucket)].map(([bucket, inBucket]) => {
    const countWithoutLane = (count: "failed" | "other" | "succeeded") =>
      inBucket.reduce((sum, row) => sum + (row.task_id === null ? row[count] : -row[count]), 0)
    return {
      task_id: null,
      bucket,
      succeeded: countWithoutLane("succeeded"),
      failed: countWithoutLane("failed"),
      other: countWithoutLane("other"),
      running: 0
    }
  })
]

/** Adds up each bucket's counts, and returns them as pairs of a bucket and a count. */
const pairsOf = <Row extends TimelineBucketRow>(
  rows: ReadonlyArray<Row>,
  count: (row: Row) => number
): ReadonlyArray<number> => {
  const pairs: Array<number> = []
  for (const row of rows.toSorted((one, other) => one.bucket - other.bucket)) {
    const value = count(row)
    if (value <= 0) continue
    if (pairs.at(-2) === row.bucket) pairs[pairs.length - 1] = (pairs.at(-1) ?? 0) + value
    else pairs.push(row.bucket, value)
  }
  return pairs
}

const finishedPairs = (rows: ReadonlyArray<TimelineBucketRow>) => ({
  succeeded: pairsOf(rows, ({ succeeded }) => succeeded),
  failed: pairsOf(rows, ({ failed }) => failed),
  other: pairsOf(rows, ({ other }) => other)
})

const toLane = (
  task: TimelineLaneRow | undefined,
  rows: ReadonlyArray<TaskTimelineBucketRow>,
  planned: ReadonlyArray<number>
): ActivityLane => ({
  kind: task?.kind ?? "other",
  task_id: task === undefined ? null : TaskId.make(task.id),
  name: task?.name ?? null,
  tags: task?.tags ?? [],
  queue_id: task?.queue_id ?? null,
  paused: task?.paused ?? false,
  ...finishedPairs(rows),
  running: pairsOf(rows, ({ running }) => running),
  planned
})

const toWorkers = (rows: ReadonlyArray<WorkerTimelineBucketRow>): ReadonlyArray<WorkerLane> =>
  [...Map.groupBy(rows, ({ worker_id }) => worker_id)].map(([worker_id, own]) => ({
    worker_id,
    ...finishedPairs(own)
  }))

const toPause = ({
  actor,
  actor_id,
  paused_at,
  resumed_at,
  ...row
}: PauseRow): ActivityTimeline["pauses"][number] => ({
  ...row,
  paused_at: timestampOf(paused_at),
  resumed_at: timestampOrNull(resumed_at),
  paused_by: actorOfEvent(actor, actor_id)
})

/** Pending delayed tasks are counted by the minute in which they are due. */
const delayedPairs = (
  minutes: ReadonlyArray<{ readonly minute: number; readonly runs: number }>,
  { bucketMs, from }: ActivityTimelineRange,
  now: number
): ReadonlyArray<number> =>
  pairsOf(
    minutes.map(({ minute, runs }) => ({
      bucket: Math.floor((Math.max(minute * 60_000, from, now) - from) / bucketMs),
      succeeded: runs,
      failed: 0,
      other: 0
    })),
    runsOf
  )

const keyOf = ({ bounds, dst_overlap, schedule, timezone }: SlotTiming) =>
  JSON.stringify([schedule, timezone, dst_overlap, bounds])

/** Counts the slots of each task from now on. Tasks with the same schedule share one count. */
function* plansOf(
  tasks: ReadonlyArray<TimelineLaneRow>,
  range: ActivityTimelineRange,
  now: number
) {
  const known = new Map<string, ReadonlyArray<number>>()
  const byTask: Array<ReadonlyArray<number>> = []
  let slots = 0
  for (const { schedule, ...task } of tasks) {
    const rhythm = { ...task, schedule: schedule ?? "" }
    const key = keyOf(rhythm)
    let pairs = known.get(key)
    if (pairs === undefined && schedule !== null && range.to > now && slots <= maxForecastSlots) {
      const counts = new Map<number, number>()
      slots += yield* visitSlots(
        rhythm,
        { from: Math.max(now, range.from), to: range.to },
        (at) => {
          const bucket = Math.floor((at - range.from) / range.bucketMs)
          counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
        }
      )
      pairs = [...counts].flat()
      known.set(key, pairs)
    }
    byTask.push(pairs ?? [])
  }
  return { byTask, isWhole: slots <= maxForecastSlots }
}
