import type { SqlClient } from "effect/sql"
import { maxPageBytes, type PageRequest } from "../platform/Pages.ts"

/** For the rows `t` of a page in their order: what each and those before it weigh, and its own part. */
export const pageBytes = (sql: SqlClient.SqlClient) =>
  sql.literal(
    "sum(t.bytes) OVER (ORDER BY t.id DESC ROWS UNBOUNDED PRECEDING)::float8 AS page_bytes, " +
      "t.bytes AS row_bytes"
  )

/** Up to the row that makes the page too heavy. PostgreSQL reads no long value of those behind it. */
export const withinPage = (sql: SqlClient.SqlClient) =>
  sql.literal(`t.page_bytes - t.row_bytes <= ${maxPageBytes}`)

/**
 * To weigh takes a fifth of the time of a page, and there is no need where each row of the page that
 * is `asked` may weigh as much as `t`: the long columns of a task that weighs more are left out.
 */
export const unlessHeavy = (
  sql: SqlClient.SqlClient,
  columns: ReadonlyArray<string>,
  long: ReadonlyArray<string>
) =>
  sql.literal(
    columns
      .map((name) =>
        long.includes(name)
          ? `CASE WHEN t.bytes * asked.rows <= ${maxPageBytes} THEN t.${name} END AS ${name}`
          : `t.${name}`
      )
      .join(", ")
  )

/** Whether long columns were left out, so that the page has to be weighed. */
export const isHeavyIn = (
  rows: ReadonlyArray<{ readonly bytes: number }>,
  { limit }: PageRequest
): boolean => rows.some(({ bytes }) => bytes * (limit + 1) > maxPageBytes)
