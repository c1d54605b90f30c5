import {
  maxExaminedExecutions,
  maxExaminedFailures,
  type RecentRun
} from "@scheduling/domain/activity/Activity"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ExecutionRow, historyColumns } from "../executions/ExecutionsRepo.ts"

export interface FailingTaskRow extends ExecutionRow {
  readonly kind: "cron" | "chain"
  readonly name: string
}

export interface TaskNameRow {
  readonly kind: ExecutionKind
  readonly id: string
  readonly name: string | null
  readonly url: string | null
}

export interface UpcomingTaskRow extends TaskNameRow {
  readonly run_at: Date | null
  readonly next_fire_at: Date | null
  readonly firing_options: FiringOptions | null
}

export interface RecentRunRow {
  readonly task_id: string
  readonly id: RecentRun["id"]
  readonly status: RecentRun["status"]
  readonly finished_at: Date
  readonly duration_ms: number | null
}

/** Reads the latest and the next runs of all of a workspace's tasks. */
export class ActivityRepo extends Context.Service<
  ActivityRepo,
  {
    readonly listFailing: (
      workspaceId: AuthorizedWorkspaceId,
      limit: number
    ) => Effect.Effect<ReadonlyArray<FailingTaskRow>>
    /** Lists the next slots, soonest first. Jitter is not included. */
    readonly listUpcoming: (
      workspaceId: AuthorizedWorkspaceId,
      now: Date,
      limit: number
    ) => Effect.Effect<ReadonlyArray<UpcomingTaskRow>>
    /**
     * Lists executions, newest first. Executions after `until`, which were cancelled long before
     * they were due, are excluded.
     */
    readonly listRecent: (
      workspaceId: AuthorizedWorkspaceId,
      asked: {
        readonly taskIds: ReadonlyArray<string>
        readonly runs: number
        readonly until: string
      }
    ) => Effect.Effect<ReadonlyArray<RecentRunRow>>
    readonly listNames: (
      workspaceId: AuthorizedWorkspaceId,
      taskIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<TaskNameRow>>
  }
>()("@scheduling/server/tasks/activity/ActivityRepo") {
  static readonly layer: Layer.Layer<ActivityRepo, never, SqlClient.SqlClient> = Layer.effect(
    ActivityRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const history = sql.literal(historyColumns)

      return ActivityRepo.of({
        // Reads the latest failures, and looks for a later success of each task. A chain run has
        // failed if one of its steps has failed, regardless of later steps. An unfinished run does
        // not count yet. Without the limit, PostgreSQL underestimates the number of tasks and reads
        // all of them.
        listFailing: Effect.fn("ActivityRepo.listFailing")(function* (workspaceId, limit) {
          return yield* sql<FailingTaskRow>`
            WITH failures AS MATERIALIZED (
              SELECT ${history}
              FROM executions
              WHERE workspace_id = ${workspaceId}
                AND status = 'failed'
              ORDER BY id DESC
              LIMIT ${maxExaminedFailures}
            ), latest AS MATERIALIZED (
              SELECT DISTINCT ON (task_id) *
              FROM failures
              WHERE kind IN ('cron', 'chain')
              ORDER BY task_id, id DESC
            )
            SELECT latest.*, task.name
            FROM latest
            CROSS JOIN LATERAL (
              SELECT name
              FROM tasks
              WHERE id = latest.task_id
                AND workspace_id = ${workspaceId}
                AND status = 'active'
              LIMIT 1
            ) AS task
            WHERE NOT EXISTS (
              SELECT
              FROM executions AS later
              WHERE later.workspace_id = ${workspaceId}
                AND later.task_id = latest.task_id
                AND later.id > latest.id
                AND later.status = 'succeeded'
                AND (later.chain_run_id IS NULL OR later.chain_run_id <> latest.chain_run_id)
                AND NOT EXISTS (
                  SELECT
                  FROM runs
                  WHERE runs.chain_run_id = later.chain_run_id
                    AND runs.workspace_id = ${workspaceId}
                )
            )
            ORDER BY latest.id DESC
            LIMIT ${limit}`
        }, Effect.orDie),

        listUpcoming: Effect.fn("ActivityRepo.listUpcoming")(function* (workspaceId, now, limit) {
          return yield* sql<UpcomingTaskRow>`
            SELECT kind, id, name, url, run_at, next_fire_at, firing_options
            FROM tasks
            WHERE workspace_id = ${workspaceId}
              AND (next_fire_at IS NOT NULL OR status = 'pending')
              AND coalesce(next_fire_at, run_at) >= ${now}
            ORDER BY coalesce(next_fire_at, run_at)
            LIMIT ${limit}`
        }, Effect.orDie),

        // A chain run counts if its first step is among the executions that are read and all its
        // steps have finished.
        listRecent: Effect.fn("ActivityRepo.listRecent")(function* (workspaceId, asked) {
          return yield* sql<RecentRunRow>`
            SELECT task_id, recent.*
            FROM (
              SELECT id AS task_id, kind
              FROM tasks
              WHERE id = ANY (${asked.taskIds}::uuid[])
                AND workspace_id = ${workspaceId}
                AND kind IN ('cron', 'chain')
            ) AS asked
            CROSS JOIN LATERAL (
              SELECT
                run_id AS id,
                CASE
                  WHEN bool_or(status = 'cancelled') THEN 'cancelled'
                  WHEN bool_or(status = 'failed') THEN 'failed'
                  WHEN bool_and(status = 'skipped') THEN 'skipped'
                  ELSE 'succeeded'
                END AS status,
                max(finished_at) AS finished_at,
                round(
                  extract(epoch FROM max(finished_at) - min(started_at)) * 1000
                )::integer AS duration_ms
              FROM (
                SELECT
                  id, coalesce(chain_run_id, id) AS run_id, status, started_at, finished_at
                FROM executions
                WHERE executions.workspace_id = ${workspaceId}
                  AND executions.task_id = asked.task_id
                  AND executions.id < ${asked.until}
                ORDER BY executions.id DESC
                LIMIT CASE asked.kind WHEN 'chain' THEN ${maxExaminedExecutions}::integer ELSE ${asked.runs}::integer END
              ) AS ended
              GROUP BY run_id
              HAVING bool_or(id = run_id)
                AND NOT EXISTS (
                  SELECT
                  FROM runs
                  WHERE runs.chain_run_id = ended.run_id
                    AND runs.workspace_id = ${workspaceId}
                )
              ORDER BY run_id DESC
              LIMIT ${asked.runs}
            ) AS recent
            ORDER BY task_id, id DESC`
        }, Effect.orDie),

        listNames: Effect.fn("ActivityRepo.listNames")(function* (workspaceId, taskIds) {
          return yield* sql<TaskNameRow>`
            SELECT kind, id, name, url
            FROM tasks
            WHERE id = ANY (${taskIds}::uuid[])
              AND workspace_id = ${workspaceId}`
        }, Effect.orDie)
      })
    })
  )
}
