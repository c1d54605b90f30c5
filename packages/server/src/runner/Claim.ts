import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../platform/rows.ts"
import { isStopped } from "./Stop.ts"
import type { LeasedRun, StartedRun } from "./Run.ts"
import {
  callColumns,
  callOfTask,
  runColumns,
  type StartedRow,
  toStartedRun,
  withheldOfTask
} from "./StartedRow.ts"

export interface Upcoming {
  readonly now_ms: number
  readonly next_fire_ms: number | null
  readonly next_due_ms: number | null
}

/** When there is something to do next: all that an idle node asks. */
export const findUpcoming = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [row] = yield* sql<Upcoming>`
    SELECT
      date_part('epoch', now()) * 1000 AS now_ms,
      (
        SELECT date_part('epoch', min(next_fire_at)) * 1000
        FROM tasks
        WHERE next_fire_at IS NOT NULL
      ) AS next_fire_ms,
      (
        SELECT date_part('epoch', min(due_at)) * 1000
        FROM runs
        WHERE lease_owner IS NULL
          AND NOT waiting
      ) AS next_due_ms`
  return row ?? { now_ms: 0, next_fire_ms: null, next_due_ms: null }
})

export interface Claimed {
  /** To be called at once: they are marked as running. */
  readonly started: ReadonlyArray<StartedRun>
  /** To be started when they are due. */
  readonly leased: ReadonlyArray<LeasedRun>
}

/**
 * Leases runs that nobody holds and that are due within the look-ahead, the most overdue first. Those
 * that are due are started by the same statement, unless the start guard has more to judge: whether a
 * scheduled run may overlap with the one before it, and what the steps of a chain are.
 *
 * The rows that were locked are found by where they are, as an array of places: of a join the planner
 * thinks that it is best done by reading the whole table, which is 5 to 13 ms of 20,000 runs.
 */
export const claim = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: {
    readonly node: number
    readonly limit: number
    readonly lookAheadMs: number
    /** Workspaces that have their share of this node's calls already. */
    readonly except: ReadonlyArray<string>
  }
) {
  const starts = sql.literal(`(
    runs.due_at <= now()
    AND NOT runs.cancel_requested
    AND NOT ${isStopped}
    AND CASE runs.kind
      WHEN 'delayed' THEN true
      WHEN 'cron' THEN runs.trigger <> 'schedule' OR runs.started_at IS NOT NULL
      ELSE false
    END
  )`)
  const rows = yield* claimedRows(sql`
    WITH due AS (
      SELECT ctid
      FROM runs
      WHERE lease_owner IS NULL
        AND NOT waiting
        AND due_at <= now() + ${options.lookAheadMs} * interval '1 millisecond'
        ${options.except.length === 0 ? sql.literal("") : sql`AND workspace_id <> ALL (${options.except}::uuid[])`}
      ORDER BY due_at
      LIMIT ${options.limit}
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE runs
      SET
        lease_owner = nodes.id,
        state = CASE WHEN ${starts} THEN 'running' ELSE runs.state END,
        started_at = CASE WHEN ${starts} THEN coalesce(runs.started_at, now()) ELSE runs.started_at END,
        attempt_started_at = CASE WHEN ${starts} THEN now() ELSE runs.attempt_started_at END
      FROM nodes
      WHERE runs.ctid = ANY (ARRAY(SELECT ctid FROM due))
        AND nodes.id = ${options.node}
        AND nodes.died_at IS NULL
      RETURNING
        runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.attempt, runs.lost,
        runs.state,
        date_part('epoch', runs.due_at) * 1000 AS due_ms
    )
    SELECT ${sql.literal(shownColumns)}
    FROM claimed
    LEFT JOIN tasks ON tasks.id = claimed.task_id AND claimed.state = 'running'`)
  const claimed: Claimed = {
    started: rows.filter(({ state }) => state === "running").map((row) => toStartedRun(row)),
    leased: rows.filter(({ state }) => state === "queued")
  }
  return claimed
})

interface ClaimedRow extends StartedRow {
  readonly state: "queued" | "running"
}

const shownColumns = [
  ...runColumns.map((name) => `claimed.${name}`),
  "claimed.state",
  callOfTask,
  `${withheldOfTask} AS withheld`
].join(", ")

const claimedRows = rowsOf<ClaimedRow>([...runColumns, "state", ...callColumns])

/** What is leased to the node, as the database knows it. */
export const findLeased = (sql: SqlClient.SqlClient, node: number) =>
  sql<LeasedRun>`
    SELECT id, workspace_id, attempt, date_part('epoch', due_at) * 1000 AS due_ms
    FROM runs
    WHERE lease_owner = ${node}`

/** Gives back runs that have not started, for any node to take. */
export const handBack = (sql: SqlClient.SqlClient, node: number, ids: ReadonlyArray<string>) =>
  sql`
    UPDATE runs
    SET lease_owner = NULL
    WHERE lease_owner = ${node}
      AND state = 'queued'
      AND id = ANY (${ids}::uuid[])`
