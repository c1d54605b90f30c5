import { maxSteps } from "@scheduling/domain/chains/Chain"
import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { dayMs } from "../core/index.ts"
import { firstIdAt } from "./RunId.ts"

/** A task that was paused because it failed too often in a row. */
export interface PausedTask {
  readonly id: string
  readonly workspace_id: string
  readonly kind: ExecutionKind
}

/**
 * The maximum age of a run's id when the run finishes: eleven completions, ten retries and one wait
 * for a worker, of a day each.
 */
const slackMs = 22 * dayMs

/**
 * Pauses tasks that have just reached their limit of consecutive failures. Failures are counted in
 * the history: a success writes nothing, and only failures are looked at. Runs before the last
 * change or resume do not count. Locked tasks are skipped: their next failure decides again.
 */
export const pauseFailing = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  failed: ReadonlyArray<string>
) {
  if (failed.length === 0) return []
  const limited = yield* sql<{ readonly id: string; readonly updated_at: Date }>`
    SELECT id, updated_at
    FROM tasks
    WHERE id = ANY (${[...new Set(failed)]}::uuid[])
      AND status = 'active'
      AND firing_options -> 'pause_after_failures' IS NOT NULL`
  if (limited.length === 0) return []
  const since = Math.min(...limited.map(({ updated_at }) => updated_at.getTime()))
  return yield* sql<PausedTask>`
    WITH failing AS MATERIALIZED (
      SELECT tasks.id, tasks.workspace_id, tasks.kind, tasks.name, allowed.failures
      FROM tasks
      CROSS JOIN LATERAL (
        SELECT (tasks.firing_options ->> 'pause_after_failures')::integer AS failures
      ) AS allowed
      WHERE tasks.id = ANY (${limited.map(({ id }) => id)}::uuid[])
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
              LIMIT allowed.failures * CASE tasks.kind WHEN 'chain' THEN ${maxSteps}::integer ELSE 1 END
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
        updated_at = now()
      FROM failing
      WHERE tasks.id = failing.id
      RETURNING tasks.id, tasks.workspace_id, tasks.kind, tasks.name, tasks.tags,
        tasks.paused_reason
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
    SELECT id, workspace_id, kind
    FROM paused`
})
