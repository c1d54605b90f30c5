import type { SqlClient } from "effect/sql"

export interface Table {
  readonly name: string
  /** The stored columns. Generated columns are left out. */
  readonly columns: ReadonlyArray<string>
  /** The tables to which the foreign keys of this table refer. */
  readonly refers_to: ReadonlyArray<string>
  readonly has_triggers: boolean
}

export interface Partition {
  readonly parent: string
  readonly name: string
  readonly bounds: string
}

/** Lists the tables of the service. The table of migrations and partitions are left out. */
export const listTables = (sql: SqlClient.SqlClient) => sql<Table>`
  SELECT
    relname::text AS name,
    ARRAY(
      SELECT attname::text
      FROM pg_attribute
      WHERE attrelid = tables.oid
        AND attnum > 0
        AND NOT attisdropped
        AND attgenerated = ''
      ORDER BY attnum
    ) AS columns,
    ARRAY(
      SELECT others.relname::text
      FROM pg_constraint
      JOIN pg_class AS others ON others.oid = confrelid
      WHERE conrelid = tables.oid
        AND contype = 'f'
    ) AS refers_to,
    EXISTS (
      SELECT
      FROM pg_trigger
      WHERE tgrelid = tables.oid
        AND NOT tgisinternal
    ) AS has_triggers
  FROM pg_class AS tables
  WHERE relnamespace = current_schema()::regnamespace
    AND relkind IN ('r', 'p')
    AND NOT relispartition
    AND relname <> 'effect_sql_migrations'
  ORDER BY relname`

/** Lists the partitions. Detached partitions are left out, because they are being deleted. */
export const listPartitions = (sql: SqlClient.SqlClient) => sql<Partition>`
  SELECT
    parents.relname::text AS parent,
    days.relname::text AS name,
    pg_get_expr(days.relpartbound, days.oid) AS bounds
  FROM pg_inherits
  JOIN pg_class AS days ON days.oid = inhrelid
  JOIN pg_class AS parents ON parents.oid = inhparent
  WHERE parents.relnamespace = current_schema()::regnamespace
    AND parents.relkind = 'p'
  ORDER BY days.relname`

export const listSequences = (sql: SqlClient.SqlClient) => sql<{ readonly name: string }>`
  SELECT relname::text AS name
  FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace
    AND relkind = 'S'
  ORDER BY relname`

/** Lists the applied migrations, by the names of their files. */
export const listMigrations = (sql: SqlClient.SqlClient) => sql<{ readonly name: string }>`
  SELECT lpad(migration_id::text, 4, '0') || '_' || name AS name
  FROM effect_sql_migrations
  ORDER BY migration_id`

export const countRelations = (sql: SqlClient.SqlClient) => sql<{
  readonly relations: number
  readonly has_migrations: boolean
}>`
  SELECT
    count(*)::int AS relations,
    count(*) FILTER (WHERE relname = 'effect_sql_migrations') > 0 AS has_migrations
  FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace
    AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')`

/** Sorts tables so that each comes after the tables to which its foreign keys refer. */
export const sortByReferences = (tables: ReadonlyArray<Table>): ReadonlyArray<Table> => {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const ordered = new Set<Table>()
  const visit = (table: Table, path: ReadonlySet<Table>): void => {
    if (ordered.has(table) || path.has(table)) return
    for (const name of table.refers_to) {
      const other = byName.get(name)
      if (other !== undefined) visit(other, new Set([...path, table]))
    }
    ordered.add(table)
  }
  for (const table of tables) visit(table, new Set())
  return [...ordered]
}
