import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/**
 * Nodes record that they are up every few seconds. A longer gap counts as downtime of the service.
 */
const downtimeAfterSeconds = 15

/** The interval of those records, and therefore the precision of the start of an absence. */
const recordEverySeconds = 5

/** How long absences are kept. No deadline that an absence extends is further away than this. */
const keptDays = 30

/**
 * SQL for rows of `absences` that have begun. An absence that no node has noticed yet is still
 * open.
 */
const isAbsence = `(
  absences.ended_at IS NOT NULL
  OR absences.began_at < now() - interval '${downtimeAfterSeconds} seconds'
)`

/** SQL for how long the service has been down since `time`. */
export const downtimeSince = (time: string) => `coalesce((
  SELECT sum(coalesce(absences.ended_at, now()) - greatest(absences.began_at, ${time}))
  FROM absences
  WHERE (absences.ended_at > ${time} OR absences.ended_at IS NULL)
    AND ${isAbsence}
), interval '0')`

/**
 * CTEs that record that the service is up, and close the last absence. Only one node at a time may
 * run them.
 */
export const recordUptime = (sql: SqlClient.SqlClient, mayWrite: Statement.Fragment) => sql`
    returned AS (
      UPDATE absences
      SET ended_at = now()
      WHERE ended_at IS NULL
        AND ${sql.literal(isAbsence)}
        AND ${mayWrite}
      RETURNING id
    ), stayed AS (
      UPDATE absences
      SET began_at = now()
      WHERE ended_at IS NULL
        AND NOT ${sql.literal(isAbsence)}
        AND began_at < now() - ${recordEverySeconds} * interval '1 second'
        AND ${mayWrite}
    ), to_come AS (
      INSERT INTO absences (began_at)
      SELECT now()
      WHERE ${mayWrite}
        AND (
          EXISTS (SELECT FROM returned)
          OR NOT EXISTS (SELECT FROM absences WHERE ended_at IS NULL)
        )
      ON CONFLICT DO NOTHING
    )`

/**
 * Returns when the last absence ended, on the database clock. Returns the current time if no node
 * has recorded anything yet.
 */
export const findLastDowntimeEnd = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly at: Date | null }>`
      SELECT max(coalesce(ended_at, now())) AS at
      FROM absences
      WHERE ${sql.literal(isAbsence)}`,
    ([row]) => row?.at ?? null
  )

export const removeAbsences = (sql: SqlClient.SqlClient) =>
  sql`
    DELETE FROM absences
    WHERE ended_at < now() - ${keptDays} * interval '1 day'`
