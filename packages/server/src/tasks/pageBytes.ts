import type { SqlClient } from "effect/sql"
import { maxPageBytes } from "../platform/Pages.ts"

/** For the rows `t` of a page in their order: what each and those before it weigh, and its own part. */
export const pageBytes = (sql: SqlClient.SqlClient) =>
  sql.literal(
    "sum(t.bytes) OVER (ORDER BY t.id DESC ROWS UNBOUNDED PRECEDING)::float8 AS page_bytes, " +
      "t.bytes AS row_bytes"
  )

/** Up to the row that makes the page too heavy. PostgreSQL reads no long value of those behind it. */
export const withinPage = (sql: SqlClient.SqlClient) =>
  sql.literal(`t.page_bytes - t.row_bytes <= ${maxPageBytes}`)
