/**
 * Returns SQL for the column with a monitor's or task's dependencies, as responses show them. `row`
 * is the name of its table in the statement. Few records have dependencies, and the column costs
 * nothing for the others.
 */
export const dependsOnColumn = (row: string): string => `CASE
  WHEN ${row}.has_dependencies THEN (
    SELECT
      coalesce(
        jsonb_agg(
          jsonb_build_object(
            'kind', on_kind, 'id', on_id, 'key', coalesce(on_monitor.key, on_task.key)
          )
          ORDER BY on_id
        ),
        '[]'
      )
    FROM dependencies
    LEFT JOIN monitors AS on_monitor ON on_monitor.id = on_id
    LEFT JOIN tasks AS on_task ON on_task.id = on_id
    WHERE dependencies.subject_id = ${row}.id
      AND coalesce(on_monitor.id, on_task.id) IS NOT NULL
  )
  ELSE '[]'
END`
