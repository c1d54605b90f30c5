import type { ExecutionKind } from "@scheduling/domain/executions/Execution"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { placeColumn } from "./ChainRuns.ts"
import { delayedTaskOf, type Settlement, type StepPlace } from "./Run.ts"
import { settle } from "./Settle.ts"

export interface TaskRef {
  readonly workspace_id: string
  readonly task_id: string
}

/** Removes the run of a delayed task that has not started, and leaves no trace of it. Answers its id. */
export const withdrawDelayed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  task: TaskRef
) {
  const removed = yield* sql<{ readonly id: string }>`
    DELETE FROM runs
    WHERE workspace_id = ${task.workspace_id}
      AND task_id = ${task.task_id}
      AND kind = 'delayed'
      AND state = 'queued'
      AND started_at IS NULL
    RETURNING id`
  return removed.map(({ id }) => id)
})

/**
 * Removes the runs of slots that are still to come: they fired ahead, and nobody was promised
 * anything yet. These slots count as not fired again.
 */
export const withdrawSlots = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, task: TaskRef) {
  const [slots] = yield* sql<Slots>`
    WITH withdrawn AS (
      DELETE FROM runs
      WHERE workspace_id = ${task.workspace_id}
        AND task_id = ${task.task_id}
        AND state = 'queued'
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

interface Slots {
  readonly fired_until: Date | null
  readonly first_withdrawn: Date | null
  readonly withdrawn: ReadonlyArray<string>
}

/**
 * The moment after which a schedule fires that was changed or resumed just now. A slot that fired
 * does not fire again, and one that was withdrawn is not lost, though it may have passed meanwhile.
 */
export const firesAfter = ({ fired_until, first_withdrawn }: Slots, now: Date): Date =>
  first_withdrawn === null
    ? new Date(Math.max(now.getTime(), fired_until?.getTime() ?? 0))
    : new Date(first_withdrawn.getTime() - 1)

/** A row of `runs` that the transaction has locked. */
export interface StoppableRun {
  readonly id: string
  readonly workspace_id: string
  readonly task_id: string
  readonly kind: ExecutionKind
  readonly state: "queued" | "running"
  readonly attempt: number
  readonly lease_owner: number | null
  readonly place: StepPlace | null
}

export const stoppableColumns = `id, workspace_id, task_id, kind, state, attempt, lease_owner, ${placeColumn()}`

/** Stops one run. Call it in a transaction: the row stays locked until what became of it is written. */
export const cancelRun = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: TaskRef & { readonly execution_id: string }
) {
  const runs = yield* sql<StoppableRun>`
    SELECT ${sql.literal(stoppableColumns)}
    FROM runs
    WHERE workspace_id = ${run.workspace_id}
      AND task_id = ${run.task_id}
      AND id = ${run.execution_id}
      AND NOT cancel_requested
    FOR UPDATE`
  const stopped: Stopped = {
    ended: yield* recordAsCancelled(sql, runs),
    requested: yield* requestCancel(sql, runs)
  }
  return stopped
})

export interface Stopped {
  /** Executions, and the runs of chains that they were of. */
  readonly ended: ReadonlyArray<string>
  /** Their nodes are to cut them off. */
  readonly requested: ReadonlyArray<string>
}

/** Ends those that are queued. Answers what ended. */
export const recordAsCancelled = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const queued = runs.filter((run) => run.state === "queued")
  if (queued.length === 0) return []
  return (yield* settle(sql, queued.map(cancelledSettlement))).ended
})

/** Asks the nodes of those that are running to cut them off. Answers which. */
export const requestCancel = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const running = runs.filter((run) => run.state === "running")
  const ids = running.map((run) => run.id)
  if (ids.length > 0) {
    yield* sql`
      UPDATE runs
      SET cancel_requested = true
      WHERE workspace_id = ANY (${[...new Set(running.map((run) => run.workspace_id))]}::uuid[])
        AND id = ANY (${ids}::uuid[])`
  }
  return ids
})

const cancelledSettlement = (run: StoppableRun): Settlement => ({
  id: run.id,
  workspace_id: run.workspace_id,
  delayed_task_id: delayedTaskOf(run),
  attempt: run.attempt,
  lease_owner: run.lease_owner,
  status: "cancelled",
  retry_delay_ms: null,
  lost: false,
  started: false,
  started_ms: null,
  finished_ms: null,
  status_code: null,
  response_body: null,
  error: "cancelled",
  place: run.place
})
