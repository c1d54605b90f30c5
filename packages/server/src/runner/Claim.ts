import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../platform/rows.ts"
import type { Claimant, LeasedRun, StartedRun } from "./Run.ts"
import {
  callColumns,
  callOfTask,
  runColumns,
  type StartedRow,
  toStartedRun,
  withheldOfTask
} from "./StartedRow.ts"
import { isStopped } from "./Stop.ts"
import { lanesInTurns, type Place, timeOf } from "./Turns.ts"

export interface Upcoming {
  readonly now_ms: number
  readonly next_fire_ms: number | null
  /** The second in which the next run is due. */
  readonly next_due_ms: number | null
}

/**
 * When there is something to do next: all that an idle node asks. Runs of before `fromMs` are not
 * looked for: where they were, the index is full of what is done and cannot be cleared away as long
 * as any transaction is old enough to see it (25 ms for 200,000 of them instead of 0.3).
 */
export const findUpcoming = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, fromMs: number) {
  const [row] = yield* sql<Upcoming>`
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
          AND ${sql.literal(second)} >= ${timeOf(sql, fromMs)}
      ) AS next_due_ms`
  return row ?? { now_ms: 0, next_fire_ms: null, next_due_ms: null }
})

/** As the index of due runs has it. */
const second = "date_bin('1 second', due_at, timestamptz 'epoch')"

const isFree = "lease_owner IS NULL AND NOT waiting"

export interface Claimed {
  /** To be called at once: they are marked as running. */
  readonly started: ReadonlyArray<StartedRun & Claimant>
  /** To be started when they are due. */
  readonly leased: ReadonlyArray<LeasedRun>
  /** Where turns were taken and not all lanes were reached: go on from here. */
  readonly reached: Place | null
}

export interface ClaimOptions {
  readonly node: number
  readonly limit: number
  /** Runs of the seconds that begin up to so far from now. */
  readonly lookAheadMs: number
  /** Where to begin. */
  readonly from: Place
  /** Null: whatever comes first. Otherwise the lanes take turns. */
  readonly turns: {
    /** Shares that get nothing. */
    readonly except: ReadonlyArray<number>
    /** Shares that get nothing ahead of time. */
    readonly exceptAhead: ReadonlyArray<number>
  } | null
}

/**
 * Leases runs that nobody holds and that are due within the look-ahead, the most overdue first. Those
 * that are due are started by the same statement, unless the start guard has more to judge: whether a
 * scheduled run may overlap with the one before it, and what the steps of a chain are.
 *
 * The rows that were locked are found by where they are, as an array of places: of a join the planner
 * thinks that it is best done by reading the whole table, which is 5 to 13 ms of 20,000 runs.
 */
export const claim = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, options: ClaimOptions) {
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
  const { turns } = options
  const rows = yield* claimedRows(sql`
    WITH RECURSIVE ${turns === null ? dueFirst(sql, options) : dueInTurns(sql, options, turns)}, claimed AS (
      UPDATE runs
      SET
        lease_owner = nodes.id,
        state = CASE WHEN ${starts} THEN 'running' ELSE runs.state END,
        started_at = CASE WHEN ${starts} THEN coalesce(runs.started_at, now()) ELSE runs.started_at END,
        attempt_started_at = CASE WHEN ${starts} THEN now() ELSE runs.attempt_started_at END
      FROM nodes
      WHERE runs.ctid = ANY (ARRAY(SELECT place FROM due))
        AND nodes.id = ${options.node}
        AND nodes.died_at IS NULL
      RETURNING
        runs.id, runs.workspace_id, runs.task_id, runs.kind, runs.attempt, runs.lost,
        runs.state, runs.lane, runs.version_id, runs.step_index,
        date_part('epoch', runs.due_at) * 1000 AS due_ms
    )
    SELECT ${sql.literal(shownColumns)}
    FROM claimed
    LEFT JOIN tasks ON tasks.id = claimed.task_id AND claimed.state = 'running'
    ${turns === null ? sql.literal("") : reachedRow(sql)}`)
  const last = rows.find(({ state }) => state === "reached")
  const claimed: Claimed = {
    started: rows
      .filter(({ state }) => state === "running")
      .map((row) => ({ ...toStartedRun(row), share: row.share, target: originOf(row.url) })),
    leased: rows.filter(({ state }) => state === "queued"),
    reached: last === undefined ? null : { at_ms: last.due_ms, lane: last.reached_lane ?? "" }
  }
  return claimed
})

const dueFirst = (sql: SqlClient.SqlClient, { from, limit, lookAheadMs }: ClaimOptions) => sql`
    due AS (
      SELECT ctid AS place
      FROM runs
      WHERE ${sql.literal(isFree)}
        AND ${sql.literal(second)} >= ${timeOf(sql, from.at_ms)}
        AND ${sql.literal(second)} <= now() + ${lookAheadMs} * interval '1 millisecond'
      ORDER BY ${sql.literal(second)}, lane
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )`

const dueInTurns = (
  sql: SqlClient.SqlClient,
  { from, limit, lookAheadMs }: ClaimOptions,
  turns: NonNullable<ClaimOptions["turns"]>
) => sql`
    ${lanesInTurns(sql, {
      table: "runs",
      moment: second,
      predicate: isFree,
      until: sql`now() + ${lookAheadMs} * interval '1 millisecond'`,
      from,
      limit,
      ...turns
    })}, due AS (
      SELECT place
      FROM turns
      CROSS JOIN LATERAL (
        SELECT ctid AS place
        FROM runs
        WHERE ${sql.literal(isFree)}
          AND ${sql.literal(second)} = turns.moment
          AND lane = turns.lane
        LIMIT turns.places
        FOR UPDATE SKIP LOCKED
      ) AS picked
    )`

/** As one row more. */
const reachedRow = (sql: SqlClient.SqlClient) => sql`
    UNION ALL
    SELECT ${sql.literal(reachedColumns)}
    FROM reached`

interface ClaimedRow extends StartedRow, Claimant {
  readonly state: "queued" | "running" | "reached"
  readonly reached_lane: string | null
}

/**
 * The origin that a run calls, read from its task, or from the step that it stands at. A template in
 * a host is an origin too, of that template.
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

/** As `targetOf` has it. */
const originOf = (url: string | null) =>
  url === null ? null : (/^https?:\/\/[^/?#]+/.exec(url)?.[0].toLowerCase() ?? null)

const columnsOfRun = (table: string) => ({
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
  `CASE claimed.state WHEN 'queued' THEN ${targetOf(columnsOfRun("claimed"))} END`,
  callOfTask,
  withheldOfTask,
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

const claimedRows = rowsOf<ClaimedRow>(claimedColumns)

/** What is leased to the node, as the database knows it. */
export const findLeased = (sql: SqlClient.SqlClient, node: number) =>
  sql<LeasedRun>`
    SELECT
      id, workspace_id, attempt,
      (lane >> 32)::integer AS share,
      ${sql.literal(targetOf(columnsOfRun("runs")))} AS target,
      date_part('epoch', due_at) * 1000 AS due_ms
    FROM runs
    WHERE lease_owner = ${node}`

/**
 * Gives back runs whose calls were not made, for any node to take. One that a claim had marked as
 * running is queued again as it was.
 */
export const handBack = (sql: SqlClient.SqlClient, node: number, ids: ReadonlyArray<string>) =>
  sql`
    UPDATE runs
    SET
      lease_owner = NULL,
      state = 'queued',
      started_at = CASE
        WHEN state = 'running' AND started_at = attempt_started_at THEN NULL
        ELSE started_at
      END
    WHERE lease_owner = ${node}
      AND id = ANY (${ids}::uuid[])`
