import type { SqlClient } from "effect/sql"

/** Keeps those of the tasks `t` whose names have the text in them, where one is asked for. */
export const havingName = (sql: SqlClient.SqlClient, text: string | undefined) =>
  text === undefined ? sql.literal("") : sql`AND strpos(lower(t.name), lower(${text})) > 0`
