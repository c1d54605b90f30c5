import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The migrations of a version, and rows in every table. */
export interface Released {
  readonly migrations: Readonly<Record<string, ReadonlyArray<string>>>
  readonly rows: ReadonlyArray<{
    readonly table: string
    readonly columns: ReadonlyArray<string>
    /** The rows as text, as the database writes a whole row. */
    readonly lines: ReadonlyArray<string>
  }>
}

/** Replaces the content of the database by a store of a released version. */
export const loadReleased = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { migrations, rows }: Released
) {
  yield* sql`DROP SCHEMA public CASCADE`
  yield* sql`CREATE SCHEMA public`
  yield* sql`
    CREATE TABLE effect_sql_migrations (
      migration_id integer PRIMARY KEY,
      created_at timestamptz NOT NULL DEFAULT now(),
      name text NOT NULL
    )`
  for (const [name, statements] of Object.entries(migrations)) {
    for (const statement of statements) yield* sql.unsafe(statement)
    yield* sql`
      INSERT INTO effect_sql_migrations (migration_id, name)
      VALUES (${Number(name.slice(0, 4))}, ${name.slice(5)})`
  }
  for (const { columns, lines, table } of rows) {
    yield* sql`ALTER TABLE ${sql(table)} DISABLE TRIGGER USER`
    yield* sql`
      INSERT INTO ${sql(table)} (${sql.csv(columns.map((column) => sql`${sql(column)}`))})
      OVERRIDING SYSTEM VALUE
      SELECT ${sql.csv(columns.map((column) => sql`(line::${sql(table)}).${sql(column)}`))}
      FROM unnest(${lines}::text[]) AS lines (line)`
    yield* sql`ALTER TABLE ${sql(table)} ENABLE TRIGGER USER`
  }
})

/** Reads the rows, with the columns that the released version had and that still exist. */
export const readReleased = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { columns, table }: Released["rows"][number]
) {
  const rows = yield* sql<{ readonly row: Readonly<Record<string, unknown>> }>`
    SELECT to_json(kept) AS row
    FROM ${sql(table)} AS kept`
  return rows
    .map(({ row }) => JSON.stringify(columns.map((column) => [column, row[column]])))
    .toSorted()
})
