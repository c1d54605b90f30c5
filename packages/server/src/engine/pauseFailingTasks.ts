import { maxChainSteps } from "@scheduling/domain/chains/Chain"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { dayMs } from "../core/index.ts"
import { firstIdAt } from "./RunId.ts"
import { type PausedTask, TaskPauses } from "./TaskPauses.ts"

/**
 * The maximum age of a run's id when the run finishes: eleven completions, ten retries and one wait
 * for a worker, each of which can take a day.
 */
const slackMs = 22 * dayMs

/**
 * Pauses tasks that have just reached their limit of consecutive failures. The failures are counted
 * in the history, so a success costs nothing. Runs from before the last change or resume do not
 * count. Locked tasks are skipped, because their next failure decides again. The pause and its
 * record in the change log are written in one transaction.
 */
export const pauseFailingTasks = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  failed: ReadonlyArray<string>
) {
  const { record } = yield* TaskPauses
  if (failed.length === 0 || record === undefined) return []
  const limited = yield* sql<{ readonly id: string; readonly updated_at: Date }>`
    SELECT id, updated_at
    FROM tasks
    WHERE id = ANY (${[...new Set(failed)]}::uuid[])
      AND status = 'active'
      AND firing_options -> 'pause_after_failures' IS NOT NULL`
  if (limited.length === 0) return []
  const since = Math.min(...limited.map(({ updated_at }) => updated_at.getTime()))
  const ids = limited.map(({ id }) => id)
  return yield* pause(sql, ids, since).pipe(
    Effect.tap((paused) => (paused.length === 0 ? Effect.void : record(sql, paused))),
    sql.withTransaction
  )
})

/**
 * Pauses the tasks that have reached their limit. `since` is the earliest time of their last
 * changes, so older executions need not be read.
 */
const pause = (sql: SqlClient.SqlClient, ids: ReadonlyArray<string>, since: number) =>
  sql<PausedTask>`
    WITH failing AS MATERIALIZED (
      SELECT
        tasks.id, tasks.workspace_id, tasks.kind, tasks.name, tasks.version, tasks.updated_at,
        coalesce(tasks.updated_by, tasks.created_by) AS updated_by, allowed.failures
      FROM tasks
      CROSS JOIN LATERAL (
        SELECT (tasks.firing_options ->> 'pause_after_failures')::integer AS failures
      ) AS allowed
      WHERE tasks.id = ANY (${ids}::uuid[])
        AND tasks.status = 'active'
        AND (
          SELECT count(*) = allowed.failures AND bool_and(has_failed)
          FROM (
            SELECT bool_or(status = 'failed') AS has_failed
            FROM (
              SELECT id, chain_run_id, status
              FROM executions
              WHERE executions.workspace_id = tasks.workspace_id
                AND executions.task_id = tasks.id
                AND executions.id >= ${firstIdAt(since - slackMs)}
                AND executions.finished_at > tasks.updated_at
                AND executions.status IN ('succeeded', 'failed')
              ORDER BY executions.id DESC
              LIMIT allowed.failures * CASE tasks.kind WHEN 'chain' THEN ${maxChainSteps}::integer ELSE 1 END
            ) AS ended
            GROUP BY coalesce(chain_run_id, id)
            ORDER BY coalesce(chain_run_id, id) DESC
            LIMIT allowed.failures
          ) AS latest
        )
      FOR NO KEY UPDATE OF tasks SKIP LOCKED
    ), paused AS (
      UPDATE tasks
      SET
        status = 'paused',
        paused_reason = 'it failed ' || failing.failures || ' times in a row',
        next_fire_at = NULL,
        version = tasks.version + 1,
        updated_by = jsonb_build_object('kind', 'system', 'id', NULL, 'name', NULL),
        updated_at = now()
      FROM failing
      WHERE tasks.id = failing.id
      RETURNING tasks.id, tasks.workspace_id, tasks.kind, tasks.name, tasks.tags,
        tasks.paused_reason, failing.version, failing.updated_at, failing.updated_by,
        tasks.updated_at AS paused_at, tasks.updated_by AS paused_by
    ), announced AS (
      INSERT INTO outbox (workspace_id, event, subject_id, tags, at, data)
      SELECT
        workspace_id, 'task.paused', id, tags, now(),
        jsonb_build_object(
          'name', name,
          'reason', paused_reason,
          'about', jsonb_build_object(
            'task', jsonb_build_object('id', id, 'kind', kind),
            'execution', NULL
          )
        )
      FROM paused
    )
    SELECT
      id, workspace_id, kind, name, paused_reason AS reason, version, updated_at, updated_by,
      paused_at, paused_by
    FROM paused`
