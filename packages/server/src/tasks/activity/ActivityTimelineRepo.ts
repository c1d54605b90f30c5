import {
  type ActivityTimelineRange,
  maxTimelineExecutions,
  maxTimelineLanes
} from "@scheduling/domain/activity/ActivityTimeline"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { QueueId, WorkerId } from "@scheduling/domain/shared/Ids"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { earliestIdAt, latestIdAt } from "../executions/idRange.ts"
import { boundsColumn, type SlotTiming, withCalendarDays } from "../forecast/ForecastRepo.ts"

/**
 * A cron task or a chain. `schedule` is null if the task is not active, or if it only runs
 * manually.
 */
export interface TimelineLaneRow extends Omit<SlotTiming, "schedule"> {
  readonly kind: "cron" | "chain"
  readonly id: string
  readonly name: string
  readonly tags: ReadonlyArray<string>
  readonly queue_id: QueueId | null
  readonly paused: boolean
  readonly schedule: string | null
}

/** The numbers of executions in one bucket. Buckets are numbered from the start of the range. */
export interface TimelineBucketRow {
  readonly bucket: number
  readonly succeeded: number
  readonly failed: number
  readonly other: number
}

/**
 * One task's counts. `task_id` is null for executions of tasks that have no lane (row) in the
 * timeline.
 */
export interface TaskTimelineBucketRow extends TimelineBucketRow {
  readonly task_id: string | null
  readonly running: number
}

export interface WorkerTimelineBucketRow extends TimelineBucketRow {
  readonly worker_id: WorkerId
}

export interface PauseRow {
  readonly subject_id: string
  readonly paused_at: Date
  readonly resumed_at: Date | null
  readonly actor_id: string | null
  readonly actor: Omit<Actor, "id"> | null
  readonly reason: string | null
}

type Asked = ActivityTimelineRange & { readonly taskIds: ReadonlyArray<string> }

/** Reads the runs of a workspace for a timeline. */
export class ActivityTimelineRepo extends Context.Service<
  ActivityTimelineRepo,
  {
    /**
     * Lists tasks, newest first. The list has one task more than the maximum number of lanes, to
     * show whether some are left out.
     */
    readonly listLanes: (
      workspaceId: AuthorizedWorkspaceId
    ) => Effect.Effect<ReadonlyArray<TimelineLaneRow>>
    /** Counts the newest executions of the range, up to the maximum. */
    readonly countRows: (
      workspaceId: AuthorizedWorkspaceId,
      asked: Asked
    ) => Effect.Effect<ReadonlyArray<TaskTimelineBucketRow>>
    /**
     * Counts executions by the hour, from statistics and from executions that are not in them yet.
     * Rows whose `task_id` is null are totals of all tasks. A bucket can occur twice.
     */
    readonly countHours: (
      workspaceId: AuthorizedWorkspaceId,
      asked: Asked
    ) => Effect.Effect<ReadonlyArray<TaskTimelineBucketRow>>
    /** Counts unfinished runs that are due. */
    readonly countRunning: (
      workspaceId: AuthorizedWorkspaceId,
      asked: Asked & { readonly now: Date }
    ) => Effect.Effect<ReadonlyArray<TaskTimelineBucketRow>>
    readonly countOfWorkers: (
      workspaceId: AuthorizedWorkspaceId,
      range: ActivityTimelineRange
    ) => Effect.Effect<ReadonlyArray<WorkerTimelineBucketRow>>
    /** Lists the pauses of the range, earliest first. */
    readonly listPauses: (
      workspaceId: AuthorizedWorkspaceId,
      range: ActivityTimelineRange
    ) => Effect.Effect<ReadonlyArray<PauseRow>>
  }
>()("@scheduling/server/tasks/activity/ActivityTimelineRepo") {
  static readonly layer: Layer.Layer<ActivityTimelineRepo, never, SqlClient.SqlClient> =
    Layer.effect(
      ActivityTimelineRepo,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const counts = sql.literal(countColumns)

        const bucketOf = (time: string, { bucketMs, from }: ActivityTimelineRange) =>
          sql`floor((date_part('epoch', ${sql.literal(time)}) - ${from / 1_000}::float8) / ${bucketMs / 1_000}::float8)::integer`

        const tasksOf = (kind: "cron" | "chain", workspaceId: AuthorizedWorkspaceId) => sql`
          (
            SELECT
              kind, id, name, tags, queue_id, status = 'paused' AS paused,
              CASE WHEN status = 'active' THEN schedule END AS schedule, timezone, dst_overlap,
              ${sql.literal(boundsColumn)} AS bounds,
              firing_options #>> '{excluded_calendar,url}' AS url
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND kind = ${kind}
            ORDER BY id DESC
            LIMIT ${maxTimelineLanes + 1}
          )`

        // The condition uses only columns of the primary key, so that the rows of the table need
        // not be read.
        const inRange = (
          workspaceId: AuthorizedWorkspaceId,
          { from, to }: ActivityTimelineRange
        ) => sql`
          workspace_id = ${workspaceId}
          AND id >= ${earliestIdAt(new Date(from))}
          AND id < ${latestIdAt(new Date(to))}
          AND scheduled_for >= ${new Date(from)}
          AND scheduled_for < ${new Date(to)}`

        return ActivityTimelineRepo.of({
          listLanes: Effect.fn("ActivityTimelineRepo.listLanes")(function* (workspaceId) {
            const rows = yield* sql<
              Omit<TimelineLaneRow, "calendar_days"> & { readonly url: string | null }
            >`
              SELECT *
              FROM (
                ${tasksOf("cron", workspaceId)}
                UNION ALL
                ${tasksOf("chain", workspaceId)}
              ) AS task
              ORDER BY id DESC
              LIMIT ${maxTimelineLanes + 1}`
            return yield* withCalendarDays(sql, workspaceId, rows)
          }, Effect.orDie),

          // An execution whose id is outside of the range of ids is stray: see `idRange.ts`.
          countRows: Effect.fn("ActivityTimelineRepo.countRows")(function* (workspaceId, asked) {
            const first = earliestIdAt(new Date(asked.from))
            const end = latestIdAt(new Date(asked.to))
            return yield* sql<TaskTimelineBucketRow>`
              SELECT task_id, bucket, ${counts}, 0 AS running
              FROM (
                SELECT
                  lane.id AS task_id, ${bucketOf("scheduled_for", asked)} AS bucket, status
                FROM (
                  (
                    SELECT task_id, scheduled_for, status
                    FROM executions
                    WHERE ${inRange(workspaceId, asked)}
                    ORDER BY id DESC
                    LIMIT ${maxTimelineExecutions}
                  )
                  UNION ALL
                  (
                    SELECT task_id, scheduled_for, status
                    FROM executions
                    WHERE workspace_id = ${workspaceId}
                      AND stray
                      AND NOT (id >= ${first} AND id < ${end})
                      AND scheduled_for >= ${new Date(asked.from)}
                      AND scheduled_for < ${new Date(asked.to)}
                    LIMIT ${maxTimelineExecutions}
                  )
                ) AS execution
                LEFT JOIN unnest(${asked.taskIds}::uuid[]) AS lane (id) ON lane.id = task_id
              ) AS counted
              GROUP BY 1, 2`
          }, Effect.orDie),

          countHours: Effect.fn("ActivityTimelineRepo.countHours")(function* (workspaceId, asked) {
            // The value is read by a separate statement, so that the planner knows it as a
            // constant: see `ExecutionStatsRepo`.
            const [progress] = yield* sql<{ readonly rolled_up_to: string }>`
              SELECT rolled_up_to::text
              FROM execution_stats_progress`
            const hours = sql`
              hour >= ${new Date(asked.from)}
                  AND hour < ${new Date(asked.to)}`
            return yield* sql<TaskTimelineBucketRow>`
              SELECT
                task_id, ${bucketOf("hour", asked)} AS bucket, sum(succeeded)::integer AS succeeded,
                sum(failed)::integer AS failed, sum(cancelled + skipped)::integer AS other, 0 AS running
              FROM (
                SELECT task_id, hour, succeeded, failed, cancelled, skipped
                FROM execution_stats
                WHERE workspace_id = ${workspaceId}
                  AND task_id = ANY (${asked.taskIds}::uuid[])
                  AND ${hours}
                UNION ALL
                SELECT NULL, hour, succeeded, failed, cancelled, skipped
                FROM execution_stats
                WHERE workspace_id = ${workspaceId}
                  AND task_id IS NULL
                  AND ${hours}
              ) AS stats
              GROUP BY 1, 2
              UNION ALL
              SELECT task_id, bucket, ${counts}, 0
              FROM (
                SELECT task_id, ${bucketOf("scheduled_for", asked)} AS bucket, status
                FROM executions
                WHERE ${inRange(workspaceId, asked)}
                  AND ordinal > ${progress?.rolled_up_to ?? "0"}::bigint
                  AND ordinal > (SELECT rolled_up_to FROM execution_stats_progress)
              ) AS fresh
              GROUP BY GROUPING SETS ((bucket, task_id), (bucket))
              HAVING grouping(task_id) = 1 OR task_id = ANY (${asked.taskIds}::uuid[])`
          }, Effect.orDie),

          countRunning: Effect.fn("ActivityTimelineRepo.countRunning")(function* (
            workspaceId,
            asked
          ) {
            return yield* sql<TaskTimelineBucketRow>`
              SELECT
                CASE WHEN task_id = ANY (${asked.taskIds}::uuid[]) THEN task_id END AS task_id,
                ${bucketOf("scheduled_for", asked)} AS bucket, 0 AS succeeded, 0 AS failed,
                0 AS other, count(*)::integer AS running
              FROM runs
              WHERE workspace_id = ${workspaceId}
                AND scheduled_for >= ${new Date(asked.from)}
                AND scheduled_for < ${new Date(asked.to)}
                AND scheduled_for <= ${asked.now}
              GROUP BY 1, 2`
          }, Effect.orDie),

          // This query reads rows of the table. `EXISTS` avoids that for workspaces without
          // workers.
          countOfWorkers: Effect.fn("ActivityTimelineRepo.countOfWorkers")(function* (
            workspaceId,
            range
          ) {
            return yield* sql<WorkerTimelineBucketRow>`
              SELECT worker_id, ${bucketOf("scheduled_for", range)} AS bucket, ${counts}
              FROM (
                SELECT worker_id, scheduled_for, status
                FROM executions
                WHERE ${inRange(workspaceId, range)}
                  AND EXISTS (
                    SELECT
                    FROM workers
                    WHERE workspace_id = ${workspaceId}
                  )
                ORDER BY id DESC
                LIMIT ${maxTimelineExecutions}
              ) AS execution
              WHERE worker_id IS NOT NULL
              GROUP BY 1, 2`
          }, Effect.orDie),

          // The next such event of a record resumes it, or deletes it while it is paused. The
          // condition on the details is that of the index.
          listPauses: Effect.fn("ActivityTimelineRepo.listPauses")(function* (workspaceId, range) {
            return yield* sql<PauseRow>`
              SELECT
                subject_id, created_at AS paused_at, resumed_at, actor_id,
                details -> 'actor' AS actor, details ->> 'reason' AS reason
              FROM (
                SELECT
                  *, lead(created_at) OVER (PARTITION BY subject_id ORDER BY id) AS resumed_at
                FROM (
                  SELECT id, subject_id, created_at, actor_id, details
                  FROM audit_events
                  WHERE workspace_id = ${workspaceId}
                    AND details @> '{"changes": {"paused": [true]}}'
                  ORDER BY id DESC
                  LIMIT ${maxPauseEvents}
                ) AS events
              ) AS pauses
              WHERE details #> '{changes,paused,1}' = 'true'
                AND created_at < ${new Date(range.to)}
                AND (resumed_at IS NULL OR resumed_at > ${new Date(range.from)})
              ORDER BY id`
          }, Effect.orDie)
        })
      })
    )
}

/** The maximum number of events that are read to find a workspace's pauses. */
const maxPauseEvents = 2_000

const countColumns = `
  count(*) FILTER (WHERE status = 'succeeded')::integer AS succeeded,
  count(*) FILTER (WHERE status = 'failed')::integer AS failed,
  count(*) FILTER (WHERE status IN ('cancelled', 'skipped'))::integer AS other`
