/**
 * SQL that joins rows of `runs` with the columns of their `call`. They come from the task, or from
 * the step of a chain.
 */
export const joinCallOfRun = `LEFT JOIN LATERAL (
      SELECT retry_count, call_options, timeout_seconds, secret_names
      FROM chain_steps
      WHERE runs.kind = 'chain'
        AND chain_steps.version_id = runs.version_id
        AND chain_steps.step_index = runs.step_index
      UNION ALL
      SELECT retry_count, call_options, timeout_seconds, secret_names
      FROM tasks
      WHERE runs.kind <> 'chain'
        AND tasks.id = runs.task_id
    ) AS call ON true`
