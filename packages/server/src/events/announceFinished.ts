/** SQL for the data of a finished run that an event stores. */
const dataOfRun = `jsonb_build_object('run', jsonb_build_object(
          'execution_id', id,
          'chain_run_id', chain_run_id,
          'step', step,
          'kind', kind,
          'status', status,
          'status_code', status_code,
          'error', error,
          'attempts', CASE WHEN started THEN attempt ELSE attempt - 1 END
        ))`

/**
 * CTEs that insert events of finished runs into the outbox. The statement must have a CTE
 * `finished` with these runs. A failure is inserted, except a failure of a delayed task in a
 * workspace without a channel, because it opens no incident. A success is inserted if the subject
 * has an open problem, or if an earlier failure is not routed yet or is written by this statement.
 *
 * Usually there is no problem at all, which is checked once per statement. `ORDER BY subject_id`
 * makes that check read the index of alerts and not the callbacks. `LIMIT` keeps the planner from
 * joining whole tables. Results that other nodes write at the same time are not visible, so the
 * router checks again later (`RoutingRepo.announceMissed`).
 *
 * The event for a task's callback contains the URL of the callback. Tasks without callbacks are not
 * read, because the index that is used does not contain them.
 */
export const announceFinished = `
    results AS NOT MATERIALIZED (
      SELECT
        *,
        status = 'failed' OR (after_failure IS TRUE AND status = 'succeeded') AS has_failed,
        CASE kind WHEN 'chain' THEN 'chain_run.' ELSE 'execution.' END AS noun
      FROM finished
      WHERE next_id IS NULL
        AND status IN ('succeeded', 'failed')
    ), notified AS (
      INSERT INTO outbox (workspace_id, event, subject_id, tags, at, data)
      SELECT
        workspace_id, CASE WHEN has_failed THEN noun || 'failed' ELSE 'task.recovered' END, task_id,
        coalesce(
          (
            SELECT tasks.tags
            FROM tasks
            WHERE tasks.id = results.task_id
              AND tasks.workspace_id = results.workspace_id
          ),
          '{}'
        ),
        coalesce(finished_at, now()), ${dataOfRun}
      FROM results
      WHERE CASE
        WHEN has_failed AND kind <> 'delayed' THEN true
        WHEN has_failed THEN (
          SELECT true
          FROM notification_channels
          WHERE notification_channels.workspace_id = results.workspace_id
            AND NOT paused
          LIMIT 1
        )
        WHEN kind = 'delayed' THEN false
        WHEN task_id IN (SELECT task_id FROM results WHERE has_failed) THEN true
        WHEN NOT EXISTS (SELECT FROM problems) AND (
          SELECT true
          FROM outbox
          WHERE callback_url IS NULL
          ORDER BY subject_id
          LIMIT 1
        ) IS NULL THEN false
        ELSE coalesce(
          (SELECT true FROM problems WHERE subject_id = results.task_id LIMIT 1),
          (
            SELECT true
            FROM outbox
            WHERE subject_id = results.task_id
              AND callback_url IS NULL
            LIMIT 1
          )
        )
      END
      ORDER BY coalesce(finished_at, now()), ordinal
      RETURNING ordinal
    ), called_back AS (
      INSERT INTO outbox (workspace_id, event, subject_id, at, data, callback_url)
      SELECT
        workspace_id, noun || CASE WHEN has_failed THEN 'failed' ELSE 'succeeded' END, task_id,
        coalesce(finished_at, now()), ${dataOfRun} || jsonb_build_object('name', callback.name),
        callback.url
      FROM results
      CROSS JOIN LATERAL (
        SELECT
          coalesce(tasks.name, tasks.url, tasks.kind) AS name,
          tasks.ending_options
            -> CASE WHEN has_failed THEN 'on_failure' ELSE 'on_success' END ->> 'url' AS url
        FROM tasks
        WHERE tasks.id = results.task_id
          AND tasks.workspace_id = results.workspace_id
          AND tasks.ending_options IS NOT NULL
        LIMIT 1
      ) AS callback
      WHERE callback.url IS NOT NULL
      ORDER BY coalesce(finished_at, now()), ordinal
      RETURNING ordinal
    ), announced AS (
      SELECT ordinal FROM notified
      UNION ALL
      SELECT ordinal FROM called_back
    )`
