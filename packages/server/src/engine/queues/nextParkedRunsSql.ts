import { isInPhase } from "../RunState.ts"

const isParked = isInPhase("parked")

/** How many seconds of waiting one point of priority is worth. */
const secondsPerPoint = 10

/**
 * SQL for the order in which runs of a queue get their slots. It is the time at which the run was
 * due, moved earlier or later by its priority. It does not depend on the current time, so a waiting
 * run is overtaken only by runs that become due within 2,000 seconds after it.
 */
export const queueOrderSql = (table = "runs") =>
  `${table}.due_at - ${table}.priority * interval '${secondsPerPoint} seconds'`

/**
 * SQL for the priorities that parked runs of a queue have, as `levels`. The query skips from one
 * priority to the next, so that its cost does not depend on the number of runs.
 */
const levelsOf = (queueId: string) => `
  WITH RECURSIVE levels AS (
    SELECT max(runs.priority) AS priority
    FROM runs
    WHERE ${isParked}
      AND runs.queue_id = ${queueId}
    UNION ALL
    SELECT (
      SELECT max(runs.priority)
      FROM runs
      WHERE ${isParked}
        AND runs.queue_id = ${queueId}
        AND runs.priority < levels.priority
    )
    FROM levels
    WHERE levels.priority IS NOT NULL
  )`

const ofLevel = (queueId: string) => `
      ${isParked}
      AND runs.queue_id = ${queueId}
      AND runs.priority = levels.priority`

/**
 * SQL for the row positions of the next parked runs of a queue, as `row_id`. If several runs have
 * the same place in the order, the run that was added first comes first. Runs that are due after
 * `until` are left out, whatever their priority, because they do not wait yet.
 */
export const nextParkedRunsSql = (
  queueId: string,
  { limit, until }: { readonly limit: string; readonly until: string }
) => `
  ${levelsOf(queueId)}
  SELECT first.row_id
  FROM levels
  CROSS JOIN LATERAL (
    SELECT runs.ctid AS row_id, runs.ordinal, ${queueOrderSql()} AS turn
    FROM runs
    WHERE ${ofLevel(queueId)}
      AND runs.due_at <= ${until}
    ORDER BY runs.due_at, runs.ordinal
    LIMIT ${limit}
  ) AS first
  ORDER BY first.turn, first.ordinal
  LIMIT ${limit}`

/** SQL for one row if a queue has a parked run, and none otherwise. */
export const anyParkedRunSql = (queueId: string) => `
  SELECT
  FROM runs
  WHERE ${isParked}
    AND runs.queue_id = ${queueId}
  LIMIT 1`

/**
 * SQL for when the first parked run of a queue is due, as `due_at`. Returns no row if the queue has
 * none.
 */
export const firstDueTimeSql = (queueId: string) => `
  ${levelsOf(queueId)}
  SELECT min(first.due_at) AS due_at
  FROM levels
  CROSS JOIN LATERAL (
    SELECT runs.due_at
    FROM runs
    WHERE ${ofLevel(queueId)}
    ORDER BY runs.due_at
    LIMIT 1
  ) AS first
  HAVING count(*) > 0`

/** SQL for how many parked runs of a queue are due, counted up to a limit. */
export const dueCountSql = (queueId: string, upTo: number) => `
  ${levelsOf(queueId)}
  SELECT count(*)::int
  FROM (
    SELECT
    FROM levels
    CROSS JOIN LATERAL (
      SELECT
      FROM runs
      WHERE ${ofLevel(queueId)}
        AND runs.due_at <= now()
      LIMIT ${upTo}
    ) AS due
    LIMIT ${upTo}
  ) AS counted`
