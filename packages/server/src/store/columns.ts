import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Passes fields of many rows as parameters for `unnest`, one array per field. PostgreSQL reads them
 * in a quarter of the time that JSON takes. Types are given because an array of nulls has none.
 */
export const columnsOf =
  <Row>(rows: ReadonlyArray<Row>) =>
  (type: keyof typeof PgTypes.OID, fieldOf: (row: Row) => unknown) =>
    Result.getOrThrow(
      PgTypes.array(
        rows.map((row) => fieldOf(row) ?? null),
        PgTypes.OID[type]
      )
    )

/**
 * The same, but hides the number of rows from the planner. For a few rows it would find a special
 * plan cheaper, and plan a prepared statement again each time: 0.8 ms for an agent's claim, which
 * takes 0.2.
 */
export const columnsOfAnyLength = <Row>(sql: SqlClient.SqlClient, rows: ReadonlyArray<Row>) => {
  const column = columnsOf(rows)
  return (...[type, fieldOf]: Parameters<typeof column>) => sql`(SELECT ${column(type, fieldOf)})`
}
