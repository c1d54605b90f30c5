import type { SqlClient, Statement } from "effect/sql"

/** The lowest possible lane, at which a walk through the lanes starts: a bigint as a string. */
export const firstLane = String(-(2n ** 63n))

/** Maximum number of lanes that a statement visits. */
const maxVisits = 256

/** A row of `walked`. */
export interface LaneWalk {
  readonly lane: string | null
  readonly visited: number
}

/**
 * Returns the first two tables of a `WITH RECURSIVE` clause. `lanes` lists the lanes (one per
 * account) after the lane `after` that have waiting deliveries. `walked` contains the last lane
 * that was reached. To jump from lane to lane, the query needs an index on `lane` whose WHERE is
 * `predicate`.
 */
export const walkLanes = (sql: SqlClient.SqlClient, predicate: string, after: string) => {
  const nextLane = (from: Statement.Fragment) => sql`
    SELECT lane
    FROM notification_deliveries
    WHERE ${sql.literal(predicate)}
      AND lane > ${from}
    ORDER BY lane
    LIMIT 1`
  return sql`
    lanes AS (
      SELECT first.lane, 1 AS visits
      FROM (${nextLane(sql`${after}::bigint`)}) AS first
      UNION ALL
      SELECT next.lane, lanes.visits + 1
      FROM lanes
      CROSS JOIN LATERAL (${nextLane(sql.literal("lanes.lane"))}) AS next
      WHERE lanes.visits < ${maxVisits}
    ), walked AS (
      SELECT max(lane)::text AS lane, count(*)::int AS visited
      FROM lanes
    )`
}

/** Returns the lane after which the next walk continues. Null if there are no more lanes. */
export const lastVisitedLane = (walked: LaneWalk | undefined): string | null =>
  walked !== undefined && walked.visited === maxVisits ? walked.lane : null
