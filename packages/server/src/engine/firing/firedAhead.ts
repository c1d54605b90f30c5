import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf } from "../../store/index.ts"
import { firstIdAt } from "../RunId.ts"

/** SQL for the time up to which slots may have fired before the database clock was set back. */
export const firedAheadLimit = `(
  SELECT date_part('epoch', until) * 1000
  FROM fired_ahead
)`

interface Firing {
  readonly run_id?: string
  readonly workspace_id: string
  readonly task_id: string
  readonly slot_at?: Date
  readonly due_at?: Date
}

/**
 * Marks slots that have a run in the history. Slots with unfinished runs are left to the unique
 * index of `runs`. Runs a statement only for slots that may have fired before the clock was set
 * back.
 */
export const markFired = Effect.fnUntraced(function* <One extends Firing>(
  sql: SqlClient.SqlClient,
  fires: ReadonlyArray<One>,
  firedAheadUntilMs: number | null
) {
  const doubtful = fires.filter(
    ({ slot_at }) => slot_at !== undefined && slot_at.getTime() <= (firedAheadUntilMs ?? -Infinity)
  )
  if (doubtful.length === 0) return fires
  const dueAt = ({ due_at, slot_at }: Firing) => due_at ?? slot_at ?? new Date(0)
  const column = columnsOf(doubtful)
  const fired = yield* sql<{ readonly task_id: string }>`
    SELECT task_id
    FROM unnest(
      ${column("uuid", ({ workspace_id }) => workspace_id)},
      ${column("uuid", ({ task_id }) => task_id)},
      ${column("timestamptz", dueAt)},
      ${column("uuid", (one) => firstIdAt(dueAt(one).getTime()))}
    ) AS asked (workspace_id, task_id, due_at, first_id)
    WHERE EXISTS (
      SELECT
      FROM executions
      WHERE executions.workspace_id = asked.workspace_id
        AND executions.task_id = asked.task_id
        AND executions.id >= asked.first_id
        AND executions.scheduled_for = asked.due_at
        AND executions.trigger IN ('schedule', 'retry')
    )`
  const ids = new Set(fired.map(({ task_id }) => task_id))
  return fires.map((one) => (ids.has(one.task_id) ? { ...one, has_fired: true } : one))
})
