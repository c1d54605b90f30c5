import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/**
 * Nodes record that they are up every few seconds. A longer gap counts as downtime of the service.
 */
const downtimeAfterSeconds = 15

/**
 * How often nodes record that they are up. The start of an absence is known with this precision.
 */
const recordEverySeconds = 5

/** How long absences are kept. Every deadline that downtime extends is shorter than this. */
const keptDays = 30

/**
 * SQL condition for rows of `absences` that are downtime. While nodes are up, they keep updating
 * `began_at` of the open row. An open row is therefore downtime only after `downtimeAfterSeconds`.
 */
const isAbsence = `(
  absences.ended_at IS NOT NULL
  OR absences.began_at < now() - interval '${downtimeAfterSeconds} seconds'
)`

/** SQL for the total downtime of the service since `time`. */
export const downtimeSql = (time: string) => `coalesce((
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
 * Returns the end of the last absence by the database clock, or the current time if no node has
 * recorded the end yet. Returns null if there was no absence.
 */
export const findLastDowntimeEnd = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly at: Date | null }>`
      SELECT max(coalesce(ended_at, now())) AS at
      FROM absences
      WHERE ${sql.literal(isAbsence)}`,
    ([row]) => row?.at ?? null
  )

export const removeOldAbsences = (sql: SqlClient.SqlClient) =>
  sql`
    DELETE FROM absences
    WHERE ended_at < now() - ${keptDays} * interval '1 day'`
