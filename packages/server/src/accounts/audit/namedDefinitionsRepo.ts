import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Option } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import {
  columnParameters,
  type ColumnType,
  orWorkspaceNotFound,
  type PageRequest
} from "../../store/index.ts"

/** A row's columns apart from its name and its definition. */
export interface DefinitionColumns {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly version: number
  readonly created_by: Actor | null
  readonly updated_by: Actor | null
  readonly created_at: Date
  readonly updated_at: Date
}

const definitionColumns: Record<keyof DefinitionColumns, ColumnType> = {
  id: "uuid",
  workspace_id: "uuid",
  version: "integer",
  created_by: "jsonb",
  updated_by: "jsonb",
  created_at: "timestamptz",
  updated_at: "timestamptz"
}

/** Reads and writes records that are identified by the name in the request's path. */
export interface NamedDefinitionsRepo<Row> {
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    page: PageRequest
  ) => Effect.Effect<ReadonlyArray<Row>>
  readonly find: (
    workspaceId: AuthorizedWorkspaceId,
    name: string
  ) => Effect.Effect<Option.Option<Row>>
  readonly findForUpdate: (
    workspaceId: AuthorizedWorkspaceId,
    name: string
  ) => Effect.Effect<Option.Option<Row>>
  readonly count: (workspaceId: AuthorizedWorkspaceId) => Effect.Effect<number>
  /** Inserts the record. Returns false if another record already has the name. */
  readonly insert: (row: Row) => Effect.Effect<boolean, NotFound>
  readonly update: (row: Row) => Effect.Effect<void>
  readonly remove: (workspaceId: AuthorizedWorkspaceId, name: string) => Effect.Effect<void>
}

/**
 * Creates the repository of a table with the columns of all definitions and the given ones.
 * `nameColumn` is the column that identifies a record.
 */
export const namedDefinitionsRepo = <Row extends DefinitionColumns>(
  sql: SqlClient.SqlClient,
  tableName: string,
  nameColumn: string,
  columns: { readonly [Column in Exclude<keyof Row, keyof DefinitionColumns>]: ColumnType }
): NamedDefinitionsRepo<Row> => {
  const table = sql.literal(tableName)
  const named = sql.literal(nameColumn)
  const types = { ...definitionColumns, ...columns }

  const find = Effect.fn("NamedDefinitionsRepo.find")(function* (
    workspaceId: AuthorizedWorkspaceId,
    name: string,
    lock: Statement.Fragment
  ) {
    const rows = yield* sql<Row>`
      SELECT *
      FROM ${table}
      WHERE workspace_id = ${workspaceId}
        AND ${named} = ${name}
      ${lock}`
    return Option.fromNullishOr(rows[0])
  }, Effect.orDie)

  return {
    list: Effect.fn("NamedDefinitionsRepo.list")(function* (workspaceId, page) {
      return yield* sql<Row>`
        SELECT *
        FROM ${table}
        WHERE workspace_id = ${workspaceId}
          AND id < ${page.before}
        ORDER BY id DESC
        LIMIT ${page.limit + 1}`
    }, Effect.orDie),

    find: (workspaceId, name) => find(workspaceId, name, sql``),

    findForUpdate: (workspaceId, name) => find(workspaceId, name, sql`FOR UPDATE`),

    count: Effect.fn("NamedDefinitionsRepo.count")(function* (workspaceId) {
      const rows = yield* sql<{ readonly count: number }>`
        SELECT count(*)::int4 AS count
        FROM ${table}
        WHERE workspace_id = ${workspaceId}`
      return rows[0]?.count ?? 0
    }, Effect.orDie),

    insert: Effect.fn("NamedDefinitionsRepo.insert")(function* (row) {
      const values = columnParameters(sql, types, row)
      const rows = yield* sql`
        INSERT INTO ${table} (${sql.csv(values.map(({ column }) => column))})
        VALUES (${sql.csv(values.map(({ value }) => value))})
        ON CONFLICT DO NOTHING
        RETURNING id`
      return rows.length > 0
    }, orWorkspaceNotFound),

    update: Effect.fn("NamedDefinitionsRepo.update")(function* (row) {
      const values = columnParameters(sql, types, row)
      yield* sql`
        UPDATE ${table}
        SET ${sql.csv(values.map(({ column, value }) => sql`${sql.literal(column)} = ${value}`))}
        WHERE workspace_id = ${row.workspace_id}
          AND id = ${row.id}`
    }, Effect.orDie),

    remove: Effect.fn("NamedDefinitionsRepo.remove")(function* (workspaceId, name) {
      yield* sql`
        DELETE FROM ${table}
        WHERE workspace_id = ${workspaceId}
          AND ${named} = ${name}`
    }, Effect.orDie)
  }
}
