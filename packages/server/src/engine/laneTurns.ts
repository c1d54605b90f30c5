import type { SqlClient } from "effect/sql"

/** A position in the index: a lane at a point in time. */
export interface LanePosition {
  readonly at_ms: number
  /** A bigint as a string. */
  readonly lane: string
}

export const firstPositionAt = (ms: number): LanePosition => ({ at_ms: ms, lane: firstLane })

const firstLane = String(-(2n ** 63n))

export const timestampSql = (sql: SqlClient.SqlClient, ms: number) =>
  sql`to_timestamp(${ms}::float8 / 1000)`

type Fragment = ReturnType<typeof timestampSql>

/** The time up to which a node trusts the database clock. */
export interface ClockLimit {
  /**
   * The time up to which `now()` is trusted. If `now()` is later, the database clock was stepped.
   * If undefined, any time is trusted.
   */
  readonly latestMs?: number | undefined
}

/** SQL for whether the statement may rely on `now()`. */
export const isClockTrusted = (sql: SqlClient.SqlClient, { latestMs }: ClockLimit) =>
  latestMs === undefined ? sql`true` : sql`now() <= ${timestampSql(sql, latestMs)}`

/** SQL for the end of the look-ahead, or null if `now()` cannot be trusted. */
export const lookAheadUntil = (
  sql: SqlClient.SqlClient,
  { lookAheadMs, ...trust }: ClockLimit & { readonly lookAheadMs: number }
) => sql`
  CASE WHEN ${isClockTrusted(sql, trust)} THEN now() + ${lookAheadMs} * interval '1 millisecond' END`

/**
 * The maximum number of lanes that one statement visits, at 3 to 6 µs each. A lane counts once for
 * each distinct time of its rows.
 */
const maxVisits = 256

export interface LaneQueryOptions {
  readonly table: "runs" | "tasks"
  /**
   * The first column of the index to scan, an expression for a time. The second column is the lane,
   * one per account.
   */
  readonly moment: string
  /** The predicate of that index. */
  readonly predicate: string
  /** The latest time to visit. */
  readonly until: Fragment
  readonly from: LanePosition
  /** The maximum number of rows. */
  readonly limit: number
  /** The shares whose rows are left out. */
  readonly except: ReadonlyArray<number>
  /** The shares whose rows are left out until they are due. */
  readonly exceptAhead: ReadonlyArray<number>
}

/**
 * Returns CTEs that select rows from lanes (one lane per account) in turn. `turns` contains the
 * lanes that were found, each with the number of rows that it may have. The query skips through the
 * index from lane to lane, time by time, and leaves out excluded shares, so its cost does not
 * depend on the length of a backlog. All lanes may have the same number of rows: half of them from
 * the earliest time of the lane, a quarter from the next time, and so on.
 */
export const laneTurns = (sql: SqlClient.SqlClient, turns: LaneQueryOptions) => {
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
      FROM (${next(sql`(${timestampSql(sql, turns.from.at_ms)}, ${turns.from.lane}::bigint)`)}) AS first
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
