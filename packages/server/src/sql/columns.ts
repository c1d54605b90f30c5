import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

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
