import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { columnsOf, rowReader } from "../../store/index.ts"
import { positionColumn } from "../chains/ChainRuns.ts"
import type { LeasedRun, StartedRun, StepPosition } from "../Run.ts"
import {
  callColumns,
  callColumnsOfTask,
  runColumns,
  type StartedRow,
  toStartedRun,
  withheldColumnOfTask
} from "./StartedRow.ts"
import { dueTimeWithoutSlot, hasBegun, isInPhase, isNotBlocked } from "../RunState.ts"
import { isInStoppedWorkspace } from "../stoppedWorkspace.ts"
import { catchesUp, maxWaitingRuns, mustEnd, startsWithoutOverlapCheck } from "./mayStart.ts"

export interface StartGuardResult {
  /** Runs that start. */
  readonly started: ReadonlyArray<StartedRun>
  /**
   * Runs that could not start now and are not due yet. Query the start guard for them again when
   * they are due.
   */
  readonly early: ReadonlySet<string>
  /**
   * Runs that must not start, with the reason. Runs that are in none of these lists are no longer
   * leased to this node.
   */
  readonly refused: ReadonlyArray<{
    readonly run: StartedRun
    readonly status: "cancelled" | "skipped"
    readonly error: ExecutionError
  }>
}

/**
 * SQL for the version of a chain's steps that a run has, or takes when it starts. All other data
 * about chains is read in subqueries, which are not executed for other kinds of tasks.
 */
const version = "coalesce(runs.version_id, tasks.version_id)"

const stepOf = (column: "name" | "weight", version: string) => `(
  SELECT chain_steps.${column}
  FROM chain_steps
  WHERE chain_steps.version_id = ${version}
    AND chain_steps.step_index = runs.step_index
)`

/**
 * SQL for the decision about a row of `runs`, joined with its row of `tasks`. Older runs of a task
 * go first: if two runs start at the same time, the newer run yields. Blocked runs, of which a task
 * can have thousands, are found by their own index.
 */
const result = `
  CASE
    WHEN tasks.id IS NULL OR ${mustEnd} THEN 'cancelled'
    WHEN runs.state = 'leased' AND ${isInStoppedWorkspace()} THEN 'park'
    WHEN ${startsWithoutOverlapCheck} THEN 'start'
    WHEN tasks.status = 'paused' AND runs.trigger <> 'backfill' THEN 'cancelled'
    WHEN tasks.overlap IS NULL OR tasks.overlap = 'allow' THEN 'start'
    WHEN NOT EXISTS (
      SELECT
      FROM runs AS other
      WHERE other.task_id = runs.task_id
        AND other.id <> runs.id
        AND ${isNotBlocked("other")}
        AND (${hasBegun("other")} OR coalesce(other.chain_run_id, other.id) < runs.id)
    ) AND NOT coalesce((
      SELECT other.id
      FROM runs AS other
      WHERE other.task_id = runs.task_id
        AND ${isInPhase("blocked", "other")}
      ORDER BY other.id
      LIMIT 1
    ) < runs.id, false) THEN 'start'
    WHEN runs.trigger = 'backfill' OR ${catchesUp("runs.scheduled_for")} THEN 'wait'
    WHEN tasks.overlap = 'queue' AND NOT EXISTS (
      SELECT
      FROM runs AS other
      WHERE other.task_id = runs.task_id
        AND ${isInPhase("blocked", "other")}
      OFFSET ${maxWaitingRuns - 1}
      LIMIT 1
    ) THEN 'wait'
    WHEN runs.due_at > now() THEN 'early'
    ELSE 'skipped'
  END`

/**
 * `asked` contains the runs that are still leased to the node, each with its call and what to do with it.
 */
const asked = (sql: SqlClient.SqlClient, node: number, runs: ReadonlyArray<LeasedRun>) => {
  const column = columnsOf(runs)
  return sql`
    asked AS (
      SELECT
        runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.attempt, runs.lost,
        date_part('epoch', runs.due_at) * 1000 AS due_ms,
        date_part('epoch', runs.scheduled_for) * 1000 AS scheduled_ms,
        ${sql.literal(callColumnsOfTask)},
        ${sql.literal(version)} AS version_id,
        CASE runs.kind
          WHEN 'chain' THEN ${sql.literal(stepOf("weight", version))}
          ELSE ${sql.literal(withheldColumnOfTask)}
        END AS withheld,
        ${sql.literal(positionColumn(version))},
        ${sql.literal(result)} AS result
      FROM unnest(
        ${column("uuid", ({ workspace_id }) => workspace_id)},
        ${column("uuid", ({ id }) => id)},
        ${column("int4", ({ attempt }) => attempt)}
      ) AS held (workspace_id, id, attempt)
      CROSS JOIN LATERAL (
        SELECT *
        FROM runs
        WHERE runs.workspace_id = held.workspace_id
          AND runs.id = held.id
        OFFSET 0
      ) AS runs
      LEFT JOIN tasks ON tasks.id = runs.task_id
      WHERE runs.attempt = held.attempt
        AND runs.lease_owner = ${node}
    )`
}

/**
 * The start guard: the last check before calls are made, slightly ahead of time and for many runs
 * together. A run starts if it is still leased to the node and was not cancelled, its task exists,
 * and no earlier run of the task is in progress, unless the task allows runs to overlap. A run that
 * an earlier statement has marked as running passes too: the response of that statement was lost,
 * so the call was not made. A run of a stopped workspace is parked.
 *
 * `OFFSET 0` and `lease_owner + 0` keep the planner from using the index of owners. The planner
 * estimates that an owner has one run when it has thousands, and would join them with the batch row
 * by row (200 ms instead of 8).
 *
 * Overlap is checked here and not when the slot fires, because the slot fires seconds earlier and
 * the previous run may finish in between. For the same reason, a slot is not skipped ahead of its
 * time.
 */
export const start = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  node: number,
  runs: ReadonlyArray<LeasedRun>
) {
  const rows = yield* guardedRows(sql`
    WITH ${asked(sql, node, runs)}, started AS (
      UPDATE runs
      SET
        state = 'running',
        started_at = coalesce(runs.started_at, greatest(now(), runs.due_at)),
        attempt_started_at = greatest(now(), runs.due_at),
        version_id = asked.version_id,
        step = CASE runs.kind WHEN 'chain' THEN ${sql.literal(stepOf("name", "asked.version_id"))} END
      FROM asked
      WHERE runs.workspace_id = asked.workspace_id
        AND runs.id = asked.id
        AND asked.result = 'start'
        AND runs.lease_owner + 0 = ${node}
        AND runs.attempt = asked.attempt
        AND NOT runs.cancel_requested
      RETURNING asked.*, runs.ctid::text AS row_at
    ), waiting AS (
      UPDATE runs
      SET
        state = CASE asked.result WHEN 'wait' THEN 'blocked' ELSE 'parked' END,
        lease_owner = NULL,
        slot_queue_id = NULL,
        due_at = CASE asked.result
          WHEN 'park' THEN ${sql.literal(dueTimeWithoutSlot())}
          ELSE runs.due_at
        END
      FROM asked
      WHERE runs.workspace_id = asked.workspace_id
        AND runs.id = asked.id
        AND asked.result IN ('wait', 'park')
        AND NOT runs.cancel_requested
        AND runs.lease_owner + 0 = ${node}
    )
    SELECT ${sql.literal(guardedColumns.join(", "))}
    FROM (
      SELECT * FROM started
      UNION ALL
      SELECT *, NULL FROM asked WHERE result IN ('cancelled', 'early', 'skipped')
    ) AS answered`)
  const guarded: StartGuardResult = {
    started: rows
      .filter((row) => row.result === "start")
      .map((row) => toStartedRun(row, row.position)),
    early: new Set(rows.filter(({ result: one }) => one === "early").map(({ id }) => id)),
    refused: rows.flatMap((row) =>
      row.result === "start" || row.result === "early"
        ? []
        : [
            {
              run: toStartedRun(row, row.position),
              status: row.result,
              error: refusals[row.result]
            }
          ]
    )
  }
  return guarded
})

const refusals = {
  cancelled: executionError("cancelled", "cancelled before it started"),
  skipped: executionError("overlap", "the previous run was still in progress")
}

interface GuardedRow extends StartedRow {
  readonly position: StepPosition | null
  readonly result: "start" | "cancelled" | "early" | "skipped"
}

const guardedColumns = [
  ...runColumns,
  ...callColumns,
  "position",
  "result"
] satisfies ReadonlyArray<keyof GuardedRow>

const guardedRows = rowReader<GuardedRow>(guardedColumns)
