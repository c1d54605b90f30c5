import { Effect } from "effect"
import { SqlClient } from "effect/sql"

interface Table {
  readonly oid: number
  readonly name: string
  readonly partitioned_by: string | null
  readonly options: string | null
}

const tables = (sql: SqlClient.SqlClient) => sql<Table>`
  SELECT oid::int, relname AS name, pg_get_partkeydef(oid) AS partitioned_by,
         array_to_string(reloptions, ', ') AS options
  FROM pg_class
  WHERE relnamespace = 'public'::regnamespace
    AND relkind IN ('r', 'p')
    AND NOT relispartition
    AND relname <> 'effect_sql_migrations'
  ORDER BY relname`

const columns = (sql: SqlClient.SqlClient, table: Table) => sql<{ line: string }>`
  SELECT concat_ws(' ', attname, format_type(atttypid, atttypmod),
           CASE attidentity WHEN 'a' THEN 'GENERATED ALWAYS AS IDENTITY' END,
           CASE attgenerated
             WHEN 's' THEN 'GENERATED ALWAYS AS (' || pg_get_expr(adbin, adrelid) || ') STORED'
             ELSE 'DEFAULT ' || pg_get_expr(adbin, adrelid)
           END,
           CASE WHEN attnotnull THEN 'NOT NULL' END) AS line
  FROM pg_attribute
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = ${table.oid}
    AND attnum > 0
    AND NOT attisdropped
  ORDER BY attnum`

const constraints = (sql: SqlClient.SqlClient, table: Table) => sql<{ line: string }>`
  SELECT 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid, true) AS line
  FROM pg_constraint
  WHERE conrelid = ${table.oid}
    AND contype IN ('p', 'u', 'f', 'c')
  ORDER BY array_position(ARRAY['p', 'u', 'f', 'c'], contype::text), conname`

const indexes = (sql: SqlClient.SqlClient, table: Table) => sql<{ line: string }>`
  SELECT pg_get_indexdef(indexrelid, 0, true) AS line
  FROM pg_index
  WHERE indrelid = ${table.oid}
    AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
  ORDER BY line`

const triggers = (sql: SqlClient.SqlClient, table: { readonly name: string }) => sql<{
  line: string
}>`
  SELECT pg_get_triggerdef(oid) AS line
  FROM pg_trigger
  WHERE tgrelid = ${table.name}::regclass
    AND NOT tgisinternal
  ORDER BY tgname`

const functions = (sql: SqlClient.SqlClient) => sql<{ line: string }>`
  SELECT pg_get_functiondef(oid) AS line
  FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace
  ORDER BY proname`

export const dumpSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const parts = yield* Effect.forEach(yield* tables(sql), (table) =>
    Effect.gen(function* () {
      const body = [...(yield* columns(sql, table)), ...(yield* constraints(sql, table))]
      const partition = table.partitioned_by === null ? "" : ` PARTITION BY ${table.partitioned_by}`
      const options =
        table.options === null || table.options === "" ? "" : ` WITH (${table.options})`
      return [
        `CREATE TABLE ${table.name} (\n${body.map(({ line }) => `  ${line}`).join(",\n")}\n)${partition}${options};`,
        ...(yield* indexes(sql, table)).map(({ line }) => `${line};`),
        ...(yield* triggers(sql, table)).map(({ line }) => `${line};`)
      ].join("\n")
    })
  )
  const created = (yield* functions(sql)).map(({ line }) => `${line.trimEnd()};`)
  return `-- Generated from the migrations by \`npm run generate\`, for people to read.\n\n${[...created, ...parts].join("\n\n")}\n`
})
