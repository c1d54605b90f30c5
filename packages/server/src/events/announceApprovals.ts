const timeOf = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * CTEs that insert an event into the outbox for each run that starts to wait for an approval. The
 * statement must have a CTE `awaiting` with the runs that start to wait.
 */
export const announceApprovals = `
    requested AS (
      SELECT awaiting.*, tasks.tags, tasks.name, ${timeOf("completes_by")} AS until
      FROM awaiting
      JOIN tasks ON tasks.id = awaiting.task_id AND tasks.workspace_id = awaiting.workspace_id
      WHERE awaiting.pause ->> 'kind' = 'approve'
        AND NOT awaiting.cancel_requested
    ), announcing AS (
      INSERT INTO outbox (workspace_id, event, subject_id, tags, at, data)
      SELECT
        workspace_id, 'approval.requested', task_id, tags, now(),
        jsonb_build_object(
          'name', name,
          'reason', pause -> 'message',
          'channel_ids', pause -> 'channel_ids',
          'facts', jsonb_build_array(
            jsonb_build_object('name', 'Step', 'value', step),
            jsonb_build_object('name', 'Until', 'value', until)
          ),
          'about', jsonb_build_object(
            'chain_run', jsonb_build_object(
              'id', chain_run_id, 'chain_id', task_id, 'status', 'running'
            ),
            'execution', jsonb_build_object(
              'id', id, 'kind', 'chain', 'task_id', task_id, 'chain_run_id', chain_run_id,
              'status', 'running', 'attempts_count', attempt, 'status_code', NULL, 'error', NULL
            ),
            'approval', jsonb_build_object(
              'message', pause -> 'message', 'until', until, 'approvers', pause -> 'approvers'
            )
          )
        )
      FROM requested
    ), announced AS (
      SELECT id AS execution_id FROM requested
    )`
