import { Record } from "effect"
import type { SqlClient } from "effect/sql"
import { maxPageBytes, type PageRequest } from "../store/index.ts"

/**
 * SQL for two columns of each row `t` of a page, in the given `order`: the number of bytes of the
 * row together with all rows before it, and the number of bytes of the row alone.
 */
export const pageBytesColumns = (sql: SqlClient.SqlClient, order: string) =>
  sql.literal(
    `sum(t.bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)::float8 AS page_bytes, ` +
      "t.bytes AS row_bytes"
  )

/**
 * Keeps rows until the page reaches its byte limit. PostgreSQL then does not read the long values
 * of later rows.
 */
export const withinPageBytes = (sql: SqlClient.SqlClient) =>
  sql.literal(`t.page_bytes - t.row_bytes <= ${maxPageBytes}`)

/**
 * SQL that omits the long columns of a row `t` if a whole page (`asked`) of such rows would exceed
 * the maximum size. If no row is that long, the page need not be measured, which saves a fifth of
 * the page's time.
 */
export const omitIfPageTooLarge = (
  long: Readonly<Record<string, string>>
): Readonly<Record<string, string>> =>
  Record.map(long, (value) => `CASE WHEN t.bytes * asked.rows <= ${maxPageBytes} THEN ${value} END`)

/** Returns whether long columns were omitted, so that the page must be measured. */
export const mayExceedPageBytes = (
  rows: ReadonlyArray<{ readonly bytes: number }>,
  { limit }: PageRequest
): boolean => rows.some(({ bytes }) => bytes * (limit + 1) > maxPageBytes)
