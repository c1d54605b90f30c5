import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { TaskOfRun } from "../Run.ts"

/**
 * Removes the run of a delayed task without a trace, if it has not started. Returns the removed
 * ids.
 */
export const withdrawDelayed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  task: TaskOfRun
) {
  const removed = yield* sql<{ readonly id: string }>`
    DELETE FROM runs
    WHERE workspace_id = ${task.workspace_id}
      AND task_id = ${task.task_id}
      AND kind = 'delayed'
      AND started_at IS NULL
    RETURNING id`
  return removed.map(({ id }) => id)
})

/**
 * Removes the runs of future slots, which were added ahead of time. After that, these slots count
 * as not fired.
 */
export const withdrawSlots = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  task: TaskOfRun
) {
  const [slots] = yield* sql<WithdrawnSlots>`
    WITH withdrawn AS (
      DELETE FROM runs
      WHERE workspace_id = ${task.workspace_id}
        AND task_id = ${task.task_id}
        AND started_at IS NULL
        AND slot_at > now()
      RETURNING id, slot_at
    ), moved AS (
      UPDATE tasks
      SET fired_until = least(
        fired_until,
        (SELECT min(slot_at) FROM withdrawn) - interval '1 millisecond'
      )
      WHERE workspace_id = ${task.workspace_id}
        AND id = ${task.task_id}
      RETURNING fired_until
    )
    SELECT
      (SELECT fired_until FROM moved) AS fired_until,
      min(slot_at) AS first_withdrawn,
      coalesce(array_agg(id), '{}') AS withdrawn
    FROM withdrawn`
  return slots ?? { fired_until: null, first_withdrawn: null, withdrawn: [] }
})

interface WithdrawnSlots {
  readonly fired_until: Date | null
  readonly first_withdrawn: Date | null
  readonly withdrawn: ReadonlyArray<string>
}

/**
 * Returns the time after which a schedule that was just changed or resumed fires. A slot that has
 * fired does not fire twice. A withdrawn slot is not lost, even if its time passes before the
 * change is written.
 */
export const fireAfterTime = ({ fired_until, first_withdrawn }: WithdrawnSlots, now: Date): Date =>
  first_withdrawn === null
    ? new Date(Math.max(now.getTime(), fired_until?.getTime() ?? 0))
    : new Date(first_withdrawn.getTime() - 1)
