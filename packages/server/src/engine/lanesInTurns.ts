import type { SqlClient } from "effect/sql"

/** A lane at a moment. */
export interface LanePosition {
  readonly at_ms: number
  /** A bigint, as text. */
  readonly lane: string
}

export const beginningOf = (ms: number): LanePosition => ({ at_ms: ms, lane: firstLane })

const firstLane = String(-(2n ** 63n))

export const timeOf = (sql: SqlClient.SqlClient, ms: number) =>
  sql`to_timestamp(${ms}::float8 / 1000)`

type Fragment = ReturnType<typeof timeOf>

/** A time that `now()` may show, as far as the node knows. */
export interface Trust {
  /** A later time means that the clock of the database was stepped. Undefined trusts every time. */
  readonly latestMs?: number | undefined
}

/** SQL for whether the statement may act by its `now()`. */
export const isTrusted = (sql: SqlClient.SqlClient, { latestMs }: Trust) =>
  latestMs === undefined ? sql`true` : sql`now() <= ${timeOf(sql, latestMs)}`

/** SQL for the end of the look-ahead, or null if `now()` is not to be trusted. */
export const horizonOf = (
  sql: SqlClient.SqlClient,
  { lookAheadMs, ...trust }: Trust & { readonly lookAheadMs: number }
) => sql`
  CASE WHEN ${isTrusted(sql, trust)} THEN now() + ${lookAheadMs} * interval '1 millisecond' END`

/** One statement visits at most this many lanes, counted per moment, at 3 to 6 µs each. */
const maxVisits = 256

export interface LaneTurns {
  readonly table: "runs" | "tasks"
  /** The first expression of the table's index. The lane comes after it. */
  readonly moment: string
  /** The WHERE of that index. */
  readonly predicate: string
  /** The latest moment to visit. */
  readonly until: Fragment
  readonly from: LanePosition
  /** How many rows are wanted. */
  readonly limit: number
  /** Shares that get nothing. */
  readonly except: ReadonlyArray<number>
  /** Shares that get nothing ahead of time. */
  readonly exceptAhead: ReadonlyArray<number>
}

/**
 * The start of a statement in which lanes take turns. `turns` has the lanes that were found, each
 * with the number of rows it may have. The statement hops through the index from lane to lane,
 * moment by moment, and skips shares that get nothing, so that its cost does not depend on the
 * length of a backlog. Each lane may have the same number of rows: half of them from its earliest
 * moment, a quarter from the next one, and so on.
 */
export const lanesInTurns = (sql: SqlClient.SqlClient, turns: LaneTurns) => {
  const moment = sql.literal(turns.moment)
  const next = (after: Fragment) => sql`
        SELECT ${moment} AS moment, lane
        FROM ${sql.literal(turns.table)}
        WHERE ${sql.literal(turns.predicate)}
          AND (${moment}, lane) > ${after}
          AND ${moment} <= ${turns.until}
        ORDER BY ${moment}, lane
        LIMIT 1`
  const isOf = (shares: ReadonlyArray<number>) =>
    sql`(walk.lane >> 32)::integer = ANY (${shares}::integer[])`
  return sql`
    walk AS (
      SELECT 1 AS visits, first.*
      FROM (${next(sql`(${timeOf(sql, turns.from.at_ms)}, ${turns.from.lane}::bigint)`)}) AS first
      UNION ALL
      SELECT walk.visits + 1, next.*
      FROM walk
      CROSS JOIN LATERAL (${next(sql`(
            walk.moment,
            CASE WHEN ${isOf(turns.except)} THEN walk.lane | 4294967295 ELSE walk.lane END
          )`)}) AS next
      WHERE walk.visits < ${maxVisits}
    ), open AS (
      SELECT visits, moment, lane
      FROM walk
      WHERE NOT ${isOf(turns.except)}
        AND NOT (moment > now() AND ${isOf(turns.exceptAhead)})
      ORDER BY visits
      LIMIT ${turns.limit}
    ), reached AS (
      SELECT date_part('epoch', moment) * 1000 AS at_ms, lane::text AS lane
      FROM walk
      WHERE visits = (
        SELECT CASE count(*) WHEN ${turns.limit} THEN max(visits) ELSE ${maxVisits} END
        FROM open
      )
    ), turns AS (
      SELECT
        moment, lane,
        1 + floor(
          (${turns.limit} - count(*) OVER ())::float8
            / count(*) FILTER (WHERE nth = 1) OVER ()
            / CASE moments WHEN 1 THEN 1 ELSE 2 ^ nth END
        ) AS row_limit
      FROM (
        SELECT
          moment, lane,
          row_number() OVER (PARTITION BY lane ORDER BY moment) AS nth,
          count(*) OVER (PARTITION BY lane) AS moments
        FROM open
      ) AS found
    )`
}
