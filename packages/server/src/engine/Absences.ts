import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/** A node looks every second. If it takes longer than this, what waits for others must not suffer. */
const awayAfterSeconds = 15

/** How exact the beginning of an absence is. It is written this often. */
const seenEverySeconds = 5

/** How long absences are kept. No wait that they extend is longer. */
const keptDays = 30

/** SQL for rows of `absences` that have begun. One that nobody has noticed yet goes on. */
const isAbsence = `(
  absences.ended_at IS NOT NULL
  OR absences.began_at < now() - interval '${awayAfterSeconds} seconds'
)`

/** SQL for how long the service was away since that time, so that nobody could reach it. */
export const awaySince = (time: string) => `coalesce((
  SELECT sum(coalesce(absences.ended_at, now()) - greatest(absences.began_at, ${time}))
  FROM absences
  WHERE (absences.ended_at > ${time} OR absences.ended_at IS NULL)
    AND ${isAbsence}
), interval '0')`

/**
 * Parts of a statement that notes that the service is there, and that it was away since the last
 * note. Only one node at a time may write.
 */
export const attend = (sql: SqlClient.SqlClient, mayWrite: Statement.Fragment) => sql`
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
        AND began_at < now() - ${seenEverySeconds} * interval '1 second'
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

/** When the service was away last, on the database's clock. That is now, if no node has looked yet. */
export const findLastAway = (sql: SqlClient.SqlClient) =>
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
