import type { SqlClient, Statement } from "effect/sql"

/** The filters of lists of user-defined records. */
export interface ListFilters {
  readonly name?: string
  readonly tag?: ReadonlyArray<string>
  readonly key?: string
  readonly key_prefix?: string
  readonly paused?: boolean
  readonly kind?: ReadonlyArray<string>
}

/** SQL for the conditions of the given filters, each after an `AND`. */
export const matchesFilters = (
  sql: SqlClient.SqlClient,
  table: string,
  { key, key_prefix, kind, name, paused, tag }: ListFilters
): Statement.Fragment => {
  const none = sql.literal("")
  const column = (field: string) => sql.literal(`${table}.${field}`)
  return sql`
    ${key === undefined ? none : sql`AND ${column("key")} = ${key}`}
    ${key_prefix === undefined ? none : sql`AND starts_with(${column("key")}, ${key_prefix})`}
    ${kind === undefined ? none : sql`AND ${column("kind")} = ANY (${kind}::text[])`}
    ${name === undefined ? none : sql`AND strpos(lower(${column("name")}), lower(${name})) > 0`}
    ${paused === undefined ? none : sql`AND ${column("paused")} = ${paused}`}
    ${tag === undefined ? none : sql`AND ${column("tags")} && ${tag}::text[]`}`
}
