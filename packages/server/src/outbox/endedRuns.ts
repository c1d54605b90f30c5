/**
 * A part of a statement whose `ended` holds the runs that have just ended. It puts into the outbox
 * the runs that people may want to hear of: failures, if the workspace has a channel; and
 * successes, if the subject is in trouble or an earlier failure was not processed yet. Usually
 * nothing is in trouble, which is checked once per statement. `LIMIT` keeps the look-ups from
 * becoming joins with whole tables.
 */
export const announceEnded = `
    announced AS (
      INSERT INTO outbox (workspace_id, event, subject_id, at, data)
      SELECT
        workspace_id,
        CASE kind WHEN 'chain' THEN 'chain.' ELSE 'task.' END
          || CASE WHEN has_failed THEN 'failed' ELSE 'recovered' END,
        task_id,
        coalesce(finished_at, now()),
        jsonb_build_object(
          'execution_id', id,
          'chain_run_id', chain_run_id,
          'step', step,
          'kind', kind,
          'status_code', status_code,
          'error', error,
          'attempts', attempt
        )
      FROM (
        SELECT
          *,
          status = 'failed' OR (after_failure IS TRUE AND status = 'succeeded') AS has_failed
        FROM ended
        WHERE next_id IS NULL
          AND status IN ('succeeded', 'failed')
      ) AS outcomes
      WHERE CASE
        WHEN has_failed THEN (
          SELECT true
          FROM notification_channels
          WHERE notification_channels.workspace_id = outcomes.workspace_id
            AND enabled
          LIMIT 1
        )
        WHEN kind = 'delayed' THEN false
        WHEN NOT EXISTS (SELECT FROM troubles) AND NOT EXISTS (SELECT FROM outbox) THEN false
        ELSE coalesce(
          (SELECT true FROM troubles WHERE subject_id = outcomes.task_id LIMIT 1),
          (SELECT true FROM outbox WHERE subject_id = outcomes.task_id LIMIT 1)
        )
      END
      ORDER BY ordinal
      RETURNING ordinal
    )`
