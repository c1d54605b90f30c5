import { Record } from "effect"
import type { SqlClient } from "effect/sql"
import { maxPageBytes, type PageRequest } from "../store/index.ts"

/**
 * SQL columns for each row `t` of a page in their `order`: the bytes of the row and all rows before
 * it, and the bytes of the row alone.
 */
export const pageBytes = (sql: SqlClient.SqlClient, order: string) =>
  sql.literal(
    `sum(t.bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)::float8 AS page_bytes, ` +
      "t.bytes AS row_bytes"
  )

/**
 * Keeps the rows until the page reaches its limit of bytes. PostgreSQL does not read the long
 * values of the rows after it.
 */
export const withinPage = (sql: SqlClient.SqlClient) =>
  sql.literal(`t.page_bytes - t.row_bytes <= ${maxPageBytes}`)

/**
 * Omits the long columns of a row `t` if a whole page (`asked`) of such rows would exceed the limit
 * of bytes. If no row is that heavy, the page need not be measured, which would take a fifth of its
 * time.
 */
export const unlessHeavy = (
  long: Readonly<Record<string, string>>
): Readonly<Record<string, string>> =>
  Record.map(long, (value) => `CASE WHEN t.bytes * asked.rows <= ${maxPageBytes} THEN ${value} END`)

/** Whether long columns were omitted, so that the page must be measured. */
export const isHeavyIn = (
  rows: ReadonlyArray<{ readonly bytes: number }>,
  { limit }: PageRequest
): boolean => rows.some(({ bytes }) => bytes * (limit + 1) > maxPageBytes)
