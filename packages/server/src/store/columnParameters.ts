import type { SqlClient, Statement } from "effect/sql"

export type ColumnType =
  | "boolean"
  | "double precision"
  | "integer"
  | "integer[]"
  | "jsonb"
  | "smallint"
  | "text"
  | "text[]"
  | "timestamptz"
  | "uuid"
  | "uuid[]"

/** Pairs each column that has a value in the row with an SQL parameter for the value. */
export const columnParameters = (
  sql: SqlClient.SqlClient,
  types: Readonly<Record<string, ColumnType>>,
  row: object
): ReadonlyArray<{ readonly column: string; readonly value: Statement.Fragment }> => {
  const fields = new Map<string, unknown>(Object.entries(row))
  return Object.entries(types).flatMap(([column, type]) => {
    const value = fields.get(column)
    if (value === undefined) return []
    const parameter = type === "jsonb" && value !== null ? JSON.stringify(value) : value
    return [{ column, value: sql`${parameter}::${sql.literal(type)}` }]
  })
}
