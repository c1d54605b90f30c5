import { cancelledError } from "@scheduling/domain/executions/ExecutionError"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { placeColumn } from "../chains/ChainRuns.ts"
import { type SettledRun, type Settlement, settlementOf } from "../Run.ts"
import type { RunState } from "../RunState.ts"
import { settle } from "./settle.ts"
import { nothingSettled, type Settled } from "./Settled.ts"

export interface TaskRef {
  readonly workspace_id: AuthorizedWorkspaceId
  readonly task_id: string
}

/**
 * Removes the run of a delayed task if it has not started, and leaves no trace of it. Returns the
 * removed ids.
 */
export const withdrawDelayed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  task: TaskRef
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
 * Removes the runs of slots that are still to come. They fired ahead of time, and nobody was
 * promised anything yet. These slots count as not fired again.
 */
export const withdrawSlots = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, task: TaskRef) {
  const [slots] = yield* sql<Slots>`
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

interface Slots {
  readonly fired_until: Date | null
  readonly first_withdrawn: Date | null
  readonly withdrawn: ReadonlyArray<string>
}

/**
 * The moment after which a schedule that was just changed or resumed fires again. A slot that has
 * fired does not fire twice. A withdrawn slot is not lost, even if its time has passed meanwhile.
 */
export const firesAfter = ({ fired_until, first_withdrawn }: Slots, now: Date): Date =>
  first_withdrawn === null
    ? new Date(Math.max(now.getTime(), fired_until?.getTime() ?? 0))
    : new Date(first_withdrawn.getTime() - 1)

/** A row of `runs` that the transaction has locked. */
export interface StoppableRun extends SettledRun {
  readonly state: RunState
  readonly lease_owner: number | null
  /** The status of the call that is to be completed. */
  readonly answered_with: number | null
  readonly now_ms: number
}

export const stoppableColumns = `
  id, workspace_id, task_id, kind, state, attempt, lease_owner,
  CASE state WHEN 'awaiting' THEN status_code END AS answered_with,
  date_part('epoch', now()) * 1000 AS now_ms, ${placeColumn()}`

/**
 * Stops one run. Call it in a transaction, so that the row stays locked until the result is
 * written.
 */
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
    ...(yield* recordAsCancelled(sql, runs)),
    requested: yield* requestCancel(sql, runs)
  }
  return stopped
})

export interface Stopped extends Recorded {
  /** Executions whose nodes are asked to cut them off. */
  readonly requested: ReadonlyArray<string>
}

export interface Recorded {
  readonly settlements: ReadonlyArray<Settlement>
  readonly settled: Settled
}

/** The attempt of a run that awaits its completion was made. */
const endOf = ({ answered_with, now_ms, state }: StoppableRun) =>
  ({
    status: "cancelled",
    error: cancelledError,
    awaited: state === "awaiting",
    started: state === "awaiting",
    finished_ms: state === "awaiting" ? now_ms : null,
    status_code: answered_with
  }) as const

/** Nobody makes its call, so it can be finished here. */
export const isNotCalling = ({ state }: StoppableRun): boolean => state !== "running"

/**
 * Ends the runs that are queued or await a call-back. What follows (`makeAfterSettled`) is to be done
 * after the commit.
 */
export const recordAsCancelled = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const settlements = runs
    .filter(isNotCalling)
    .map((run) => settlementOf(run, run.lease_owner, endOf(run)))
  const recorded: Recorded = {
    settlements,
    settled: settlements.length === 0 ? nothingSettled : yield* settle(sql, settlements)
  }
  return recorded
})

/** Asks the nodes of the running runs to cut them off. Returns the ids of these runs. */
export const requestCancel = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<StoppableRun>
) {
  const running = runs.filter((run) => !isNotCalling(run))
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
