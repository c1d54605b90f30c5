import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** A released version's migrations, and rows for every table. */
export interface ReleasedVersion {
  readonly migrations: Readonly<Record<string, ReadonlyArray<string>>>
  readonly rows: ReadonlyArray<{
    readonly table: string
    readonly columns: ReadonlyArray<string>
    /** The rows as text, in the format that the database uses to print a whole row. */
    readonly lines: ReadonlyArray<string>
  }>
}

/** Replaces the database's contents with a released version's store. */
export const loadReleased = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { migrations, rows }: ReleasedVersion
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

/** Reads the rows, limited to columns that exist both in the released version and now. */
export const readReleased = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { columns, table }: ReleasedVersion["rows"][number]
) {
  const rows = yield* sql<{ readonly row: Readonly<Record<string, unknown>> }>`
    SELECT to_json(kept) AS row
    FROM ${sql(table)} AS kept`
  return rows
    .map(({ row }) => JSON.stringify(columns.map((column) => [column, row[column]])))
    .toSorted()
})
