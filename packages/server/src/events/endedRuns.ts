/** What is kept of a run that has ended. */
const dataOfRun = `jsonb_build_object(
          'execution_id', id,
          'chain_run_id', chain_run_id,
          'step', step,
          'kind', kind,
          'error', error,
          'attempts', attempt
        )`

/**
 * A part of a statement whose `finished` holds the runs that have just finished. It puts into the outbox
 * the runs that people may want to hear of: failures, if the workspace has a channel; and
 * successes, if the subject is in trouble, or an earlier failure was not processed yet or is written by
 * this statement. Usually nothing is in trouble, which is checked once per statement. `LIMIT` keeps
 * the look-ups from becoming joins with whole tables. What the statements of other nodes write at the
 * same time is not seen, so the sorter looks again (`notifications/sorting/troubles.ts`).
 *
 * What the call-backs of tasks are told goes to an outbox of its own. Tasks without call-backs are
 * not read: they are not in the index that is looked at.
 */
export const announceFinished = `
    outcomes AS NOT MATERIALIZED (
      SELECT
        *,
        status = 'failed' OR (after_failure IS TRUE AND status = 'succeeded') AS has_failed,
        CASE kind WHEN 'chain' THEN 'chain.' ELSE 'task.' END AS noun
      FROM finished
      WHERE next_id IS NULL
        AND status IN ('succeeded', 'failed')
    ), told AS (
      INSERT INTO outbox (workspace_id, event, subject_id, at, data)
      SELECT
        workspace_id, noun || CASE WHEN has_failed THEN 'failed' ELSE 'recovered' END, task_id,
        coalesce(finished_at, now()), ${dataOfRun}
      FROM outcomes
      WHERE CASE
        WHEN has_failed THEN (
          SELECT true
          FROM notification_channels
          WHERE notification_channels.workspace_id = outcomes.workspace_id
            AND enabled
          LIMIT 1
        )
        WHEN kind = 'delayed' THEN false
        WHEN task_id IN (SELECT task_id FROM outcomes WHERE has_failed) THEN true
        WHEN NOT EXISTS (SELECT FROM troubles) AND NOT EXISTS (SELECT FROM outbox) THEN false
        ELSE coalesce(
          (SELECT true FROM troubles WHERE subject_id = outcomes.task_id LIMIT 1),
          (SELECT true FROM outbox WHERE subject_id = outcomes.task_id LIMIT 1)
        )
      END
      ORDER BY coalesce(finished_at, now()), ordinal
      RETURNING ordinal
    ), called_back AS (
      INSERT INTO callback_outbox (workspace_id, task_id, url, event, at, data)
      SELECT
        workspace_id, task_id, wish.url,
        noun || CASE WHEN has_failed THEN 'failed' ELSE 'succeeded' END,
        coalesce(finished_at, now()), ${dataOfRun} || jsonb_build_object('name', wish.name)
      FROM outcomes
      CROSS JOIN LATERAL (
        SELECT
          coalesce(tasks.name, tasks.url, tasks.kind) AS name,
          tasks.ending_options
            -> CASE WHEN has_failed THEN 'on_failure' ELSE 'on_success' END ->> 'url' AS url
        FROM tasks
        WHERE tasks.id = outcomes.task_id
          AND tasks.workspace_id = outcomes.workspace_id
          AND tasks.ending_options IS NOT NULL
        LIMIT 1
      ) AS wish
      WHERE wish.url IS NOT NULL
      ORDER BY coalesce(finished_at, now()), ordinal
      RETURNING ordinal
    ), announced AS (
      SELECT ordinal FROM told
      UNION ALL
      SELECT ordinal FROM called_back
    )`
