import type { SqlClient, Statement } from "effect/sql"

/** A bigint, as text. */
export const firstLane = String(-(2n ** 63n))

/** One statement visits at most this many lanes. */
const maxVisits = 256

export interface LaneWalk {
  readonly table: "notification_channels" | "notification_deliveries"
  /** The WHERE of the table's index by lane. */
  readonly predicate: string
  /** The walk starts behind this lane. */
  readonly after: string
}

/** A row of `walked`. */
export interface Walked {
  readonly lane: string | null
  readonly visited: number
}

/**
 * The start of a recursive statement. `lanes` has the lanes in which something waits, found by hops
 * through the index, and `walked` how far the walk came.
 */
export const walkLanes = (sql: SqlClient.SqlClient, { after, predicate, table }: LaneWalk) => {
  const hop = (from: Statement.Fragment) => sql`
    SELECT lane
    FROM ${sql.literal(table)}
    WHERE ${sql.literal(predicate)}
      AND lane > ${from}
    ORDER BY lane
    LIMIT 1`
  return sql`
    lanes AS (
      SELECT first.lane, 1 AS visits
      FROM (${hop(sql`${after}::bigint`)}) AS first
      UNION ALL
      SELECT next.lane, lanes.visits + 1
      FROM lanes
      CROSS JOIN LATERAL (${hop(sql.literal("lanes.lane"))}) AS next
      WHERE lanes.visits < ${maxVisits}
    ), walked AS (
      SELECT max(lane)::text AS lane, count(*)::int AS visited
      FROM lanes
    )`
}

/** Where the next walk goes on; null where there are no more lanes. */
export const reachedBy = (walked: Walked | undefined): string | null =>
  walked !== undefined && walked.visited === maxVisits ? walked.lane : null
