import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/**
 * Takes fields of many rows as parameters for `unnest`, an array each, which PostgreSQL reads in a
 * quarter of the time that it needs for JSON. Types are given, as an array of nulls has none.
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
