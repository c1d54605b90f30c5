import type { SqlClient } from "effect/sql"

/** `history` contains the executions of finished runs and skipped steps. */
export const insertExecutions = (sql: SqlClient.SqlClient) => sql`
    history AS (
      INSERT INTO executions (
        id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, flow_key, status,
        scheduled_for, started_at, finished_at, lateness_ms, duration_ms,
        attempts_count, attempt_started_at, status_code, response_body, error,
        node, worker_id, exchange
      )
      SELECT
        id, workspace_id, task_id, kind, trigger, chain_run_id, step_index, step, flow_key, status,
        scheduled_for, started_at, coalesce(finished_at, now()),
        CASE WHEN trigger NOT IN ('rerun', 'backfill') THEN date_part('epoch', started_at - scheduled_for) * 1000 END,
        date_part('epoch', coalesce(finished_at, now()) - started_at) * 1000,
        CASE WHEN started THEN attempt ELSE attempt - 1 END,
        CASE WHEN started AND finished_at IS NOT NULL THEN attempt_started_at END,
        status_code,
        CASE WHEN started AND finished_at IS NOT NULL THEN response_body END,
        error,
        CASE WHEN finished_at IS NOT NULL THEN node END,
        CASE WHEN finished_at IS NOT NULL THEN worker_id END,
        CASE WHEN started AND finished_at IS NOT NULL THEN exchange END
      FROM finished
      UNION ALL
      SELECT
        passed.id, workspace_id, task_id, kind, 'chain', chain_run_id,
        passed.step_index, passed.step, NULL, 'skipped',
        now(), NULL, now(), NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM finished,
        json_to_recordset(skipped::json) AS passed (id uuid, step_index smallint, step text)
    )`

/**
 * `attempts_written` contains attempts that were retried, and last attempts whose result is
 * unknown. All other last attempts are stored in the rows of their executions.
 */
export const insertAttempts = (sql: SqlClient.SqlClient) => sql`
    attempts_written AS (
      INSERT INTO earlier_attempts (
        execution_id, number, workspace_id, started_at, finished_at,
        status_code, response_body, error, node, worker_id, exchange
      )
      SELECT
        id, attempt, workspace_id, attempt_started_at, finished_at,
        status_code, response_body, error, node, worker_id, exchange
      FROM finished
      WHERE started
        AND finished_at IS NULL
      UNION ALL
      SELECT
        id, attempt, workspace_id, attempt_started_at, finished_at,
        status_code, response_body, error, node, worker_id, exchange
      FROM retried
      WHERE started
    )`

/** `delayed_tasks` contains the tasks that finished with their runs. */
export const finishDelayedTasks = (sql: SqlClient.SqlClient) => sql`
    delayed_tasks AS (
      UPDATE tasks
      SET status = 'finished', ended_at = now()
      WHERE id = ANY (ARRAY (
          SELECT locked.id
          FROM locked
          JOIN finished ON finished.task_id = locked.id
        ))
    )`
