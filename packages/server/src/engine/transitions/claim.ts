import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { rowReader } from "../../store/index.ts"
import type { OwnerAndTarget, LeasedRun, StartedRun } from "../Run.ts"
import { dueTimeWithoutSlot, isInPhase } from "../RunState.ts"
import { isInStoppedWorkspace } from "../stoppedWorkspace.ts"
import {
  callColumns,
  callColumnsOfTask,
  runColumns,
  type StartedRow,
  toStartedRun,
  withheldColumnOfTask
} from "./StartedRow.ts"
import { mustEnd, startsWithoutOverlapCheck } from "./mayStart.ts"
import {
  lookAheadUntil,
  laneTurns,
  type LanePosition,
  timestampSql,
  type ClockLimit
} from "../laneTurns.ts"
import { noUpcomingWorkerRunColumns, upcomingWorkerRunColumns } from "../runsForWorkers.ts"

export interface UpcomingWork {
  readonly now_ms: number
  readonly next_fire_ms: number | null
  /** The second in which the next run is due. */
  readonly next_due_ms: number | null
  /**
   * Whether runs for workers are due. Like the next field, it is only queried while an agent waits
   * at this node.
   */
  readonly worker_due: boolean
  readonly next_worker_due_ms: number | null
}

/**
 * Finds when the next work is due. This is the only query of an idle node. Runs that were due
 * before `fromMs` are left out: that part of the index is full of dead entries of finished runs,
 * which cannot be vacuumed while an older transaction is open (the search of 200,000 dead entries
 * takes 25 ms instead of 0.3 ms).
 */
export const findUpcomingWork = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  fromMs: number,
  forWorkers = false
) {
  const [row] = yield* sql<UpcomingWork>`
    SELECT
      date_part('epoch', now()) * 1000 AS now_ms,
      (
        SELECT date_part('epoch', min(next_fire_at)) * 1000
        FROM tasks
        WHERE next_fire_at IS NOT NULL
      ) AS next_fire_ms,
      (
        SELECT date_part('epoch', min(${sql.literal(second)})) * 1000
        FROM runs
        WHERE ${sql.literal(isFree)}
          AND ${sql.literal(second)} >= ${timestampSql(sql, fromMs)}
      ) AS next_due_ms,
      ${sql.literal(forWorkers ? upcomingWorkerRunColumns : noUpcomingWorkerRunColumns)}`
  return row ?? (yield* Effect.die(new Error("SELECT returned no row")))
})

/**
 * SQL for the second in which a run is due. The index of due runs has the same expression, so the
 * index is used.
 */
const second = "date_bin('1 second', due_at, timestamptz 'epoch')"

/**
 * SQL condition for ready runs of nodes. Runs for workers are excluded, because they have separate
 * indexes.
 */
const isFree = `${isInPhase("ready")} AND run_on IS NULL`

export interface ClaimResult {
  /** Runs that are already marked as running. The caller must make their calls immediately. */
  readonly started: ReadonlyArray<StartedRun & OwnerAndTarget>
  /** Runs to start when they are due. */
  readonly leased: ReadonlyArray<LeasedRun>
  /** The number of runs that were parked because their workspace is stopped. */
  readonly parked: number
  /**
   * Set if lanes took turns and not all of them were reached. The next claim continues from here.
   */
  readonly reached: LanePosition | null
}

export const emptyClaimResult: ClaimResult = { started: [], leased: [], parked: 0, reached: null }

export interface ClaimOptions extends ClockLimit {
  readonly node: number
  readonly limit: number
  /** Runs are claimed if they are due within this time, rounded down to the second. */
  readonly lookAheadMs: number
  readonly from: LanePosition
  /**
   * The position at which the turns of lanes begin. If null, runs are claimed in the order in which
   * they are due.
   */
  readonly turns: {
    /** Shares whose runs are not claimed. */
    readonly except: ReadonlyArray<number>
    /** Shares whose runs are not claimed before they are due. */
    readonly exceptAhead: ReadonlyArray<number>
  } | null
}

/**
 * Leases unleased runs that are due within the look-ahead, the most overdue first. The same
 * statement starts the runs that are already due, unless the start guard has more to check: whether
 * a scheduled run may overlap with the previous run, and which steps a chain has. Runs of stopped
 * workspaces are parked, so that the next claim does not find them again.
 *
 * The locked rows are found again by an array of their positions. With a join, the planner would
 * read the whole table, which takes 5 to 13 ms for 20,000 runs.
 */
export const claim = (sql: SqlClient.SqlClient, options: ClaimOptions) =>
  options.turns === null
    ? claimFoundRuns(sql, options.node, { due: dueFirst(sql, options), reached: sql.literal("") })
    : claimFoundRuns(sql, options.node, {
        due: dueInTurns(sql, options, options.turns),
        reached: reachedRow(sql)
      })

interface Found {
  readonly due: Statement.Fragment
  readonly reached: Statement.Fragment
  /** Whether the claim also admits the runs to their queues. */
  readonly admits?: boolean
}

/**
 * Leases the rows at the positions in `due`, and starts the runs that the start guard need not
 * check.
 */
export const claimFoundRuns = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  node: number,
  found: Found
) {
  const parks = `(${isInStoppedWorkspace()} AND NOT ${mustEnd})`
  const starts = `(
    runs.due_at <= now()
    AND runs.kind <> 'chain'
    AND ${startsWithoutOverlapCheck}
    AND NOT ${mustEnd}
    AND NOT ${isInStoppedWorkspace()}
  )`
  const assignments = sql.literal(`
        lease_owner = CASE WHEN NOT ${parks} THEN nodes.id END,
        state = CASE WHEN ${parks} THEN 'parked' WHEN ${starts} THEN 'running' ELSE 'leased' END,
        started_at = CASE WHEN ${starts} THEN coalesce(runs.started_at, now()) ELSE runs.started_at END,
        attempt_started_at = CASE WHEN ${starts} THEN now() ELSE runs.attempt_started_at END,
        slot_queue_id = CASE WHEN NOT ${parks} THEN runs.${found.admits ? "queue_id" : "slot_queue_id"} END,
        due_at = ${found.admits ? "greatest(runs.due_at, now())" : `CASE WHEN ${parks} THEN ${dueTimeWithoutSlot()} ELSE runs.due_at END`}`)
  const rows = yield* claimedRows(sql`
    WITH RECURSIVE ${found.due}, claimed AS (
      UPDATE runs
      SET ${assignments}
      FROM nodes
      WHERE runs.ctid = ANY (ARRAY(SELECT row_id FROM due))
        AND nodes.id = ${node}
        AND nodes.died_at IS NULL
      RETURNING
        runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.attempt, runs.lost,
        runs.state, runs.lane, runs.version_id, runs.step_index,
        date_part('epoch', runs.due_at) * 1000 AS due_ms,
        date_part('epoch', runs.scheduled_for) * 1000 AS scheduled_ms,
        runs.ctid::text AS row_at
    )
    SELECT ${sql.literal(shownColumns)}
    FROM claimed
    LEFT JOIN tasks ON tasks.id = claimed.task_id AND claimed.state = 'running'
    ${found.reached}`)
  const last = rows.find(({ state }) => state === "reached")
  const claimed: ClaimResult = {
    started: rows
      .filter(({ state }) => state === "running")
      .map((row) => ({ ...toStartedRun(row), share: row.share, target: originOf(row.url) })),
    leased: rows.filter(({ state }) => state === "leased"),
    parked: rows.filter(({ state }) => state === "parked").length,
    reached: last === undefined ? null : { at_ms: last.due_ms, lane: last.reached_lane ?? "" }
  }
  return claimed
})

const dueFirst = (sql: SqlClient.SqlClient, { from, limit, ...options }: ClaimOptions) => sql`
    due AS (
      SELECT ctid AS row_id
      FROM runs
      WHERE ${sql.literal(isFree)}
        AND ${sql.literal(second)} >= ${timestampSql(sql, from.at_ms)}
        AND ${sql.literal(second)} <= ${lookAheadUntil(sql, options)}
      ORDER BY ${sql.literal(second)}, lane
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )`

const dueInTurns = (
  sql: SqlClient.SqlClient,
  { from, limit, ...options }: ClaimOptions,
  turns: NonNullable<ClaimOptions["turns"]>
) => sql`
    ${laneTurns(sql, {
      table: "runs",
      moment: second,
      predicate: isFree,
      until: lookAheadUntil(sql, options),
      from,
      limit,
      ...turns
    })}, due AS (
      SELECT row_id
      FROM turns
      CROSS JOIN LATERAL (
        SELECT ctid AS row_id
        FROM runs
        WHERE ${sql.literal(isFree)}
          AND ${sql.literal(second)} = turns.moment
          AND lane = turns.lane
        LIMIT turns.row_limit
        FOR UPDATE SKIP LOCKED
      ) AS picked
    )`

/** Adds a row that contains the last lane of the search. */
const reachedRow = (sql: SqlClient.SqlClient) => sql`
    UNION ALL
    SELECT ${sql.literal(reachedColumns)}
    FROM reached`

interface ClaimedRow extends StartedRow, OwnerAndTarget {
  readonly state: "leased" | "running" | "parked" | "reached"
  readonly reached_lane: string | null
}

/**
 * SQL for the origin that a run calls, read from its task or from its current step. A host that
 * contains a template counts as an origin of its own.
 */
export const targetOf = (run: {
  readonly kind: string
  readonly task_id: string
  readonly version_id: string
  readonly step_index: string
}) => `(
  SELECT lower(substring(
    CASE ${run.kind}
      WHEN 'chain' THEN (
        SELECT chain_steps.url
        FROM chain_steps
        WHERE chain_steps.version_id = coalesce(${run.version_id}, called.version_id)
          AND chain_steps.step_index = ${run.step_index}
      )
      ELSE called.url
    END
    FROM '^https?://[^/?#]+'
  ))
  FROM tasks AS called
  WHERE called.id = ${run.task_id}
)`

/** The same as `targetOf`, in JavaScript. */
const originOf = (url: string | null) =>
  url === null ? null : (/^https?:\/\/[^/?#]+/.exec(url)?.[0].toLowerCase() ?? null)

export const targetColumnsOf = (table: string) => ({
  kind: `${table}.kind`,
  task_id: `${table}.task_id`,
  version_id: `${table}.version_id`,
  step_index: `${table}.step_index`
})

const claimedColumns = [
  ...runColumns,
  "state",
  "share",
  "target",
  ...callColumns,
  "reached_lane"
] satisfies ReadonlyArray<keyof ClaimedRow>

const shownColumns = [
  ...runColumns.map((name) => `claimed.${name}`),
  "claimed.state",
  "(claimed.lane >> 32)::integer",
  `CASE claimed.state WHEN 'leased' THEN ${targetOf(targetColumnsOf("claimed"))} END`,
  callColumnsOfTask,
  withheldColumnOfTask,
  "NULL"
].join(", ")

const reachedColumns = claimedColumns
  .map((name) => {
    switch (name) {
      case "state":
        return "'reached'"
      case "due_ms":
        return "at_ms"
      case "reached_lane":
        return "lane"
      default:
        return "NULL"
    }
  })
  .join(", ")

const claimedRows = rowReader<ClaimedRow>(claimedColumns)

/** Finds the runs that are leased to the node in the database. */
export const findLeased = (sql: SqlClient.SqlClient, node: number) =>
  sql<LeasedRun>`
    SELECT
      id, workspace_id, attempt,
      (lane >> 32)::integer AS share,
      ${sql.literal(targetOf(targetColumnsOf("runs")))} AS target,
      date_part('epoch', due_at) * 1000 AS due_ms
    FROM runs
    WHERE lease_owner = ${node}`
