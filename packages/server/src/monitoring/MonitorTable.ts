import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Monitor, MonitorQuery, MonitorStatus } from "@scheduling/domain/monitors/Monitor"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { IncidentId, MonitorId } from "@scheduling/domain/shared/Ids"
import type { Dependency } from "@scheduling/domain/incidents/Dependency"
import { Effect, Option } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { dependsOnColumn } from "../incidents/index.ts"
import {
  columnParameters,
  type ColumnType,
  countRows,
  isListedAfter,
  type ListFilters,
  listOrder,
  type ListRequest,
  matchesFilters,
  sortByName,
  type PageRow,
  sortColumn,
  timestampOf,
  timestampOrNull
} from "../store/index.ts"

/**
 * A stored status. `late` is not stored, but computed from the current time when a monitor is read.
 */
export type StoredStatus = Exclude<MonitorStatus, "late">

/** The columns of the table `monitors`. */
export interface MonitorRow<Status extends StoredStatus = StoredStatus> {
  readonly id: MonitorId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly version: number
  readonly name: string
  readonly tags: ReadonlyArray<string>
  readonly status: Status
  readonly changed_at: Date
  readonly open_incident_id: IncidentId | null
  readonly depends_on: ReadonlyArray<Dependency>
  readonly created_by: Actor | null
  readonly updated_by: Actor | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of `monitors`, joined with the row of its kind. Each write increments `row_version`. */
export interface KindRow<Status extends StoredStatus = StoredStatus> extends MonitorRow<Status> {
  readonly monitor_id: MonitorId
  readonly row_version: number
}

/**
 * The table of a kind of monitor, which several kinds may share. It has one row per monitor, with
 * `monitor_id`, `workspace_id`, `version` and these columns.
 */
export interface MonitorTable<Columns> {
  readonly kind: Monitor["kind"]
  readonly name: string
  readonly columns: { readonly [Name in keyof Columns]-?: ColumnType }
  readonly nextCheckAt: keyof Columns & string
  /** The column with the time after which a monitor that is `new` or `up` is late. */
  readonly lateAfter?: keyof Columns & string
  /**
   * SQL that adds columns of other tables to a monitor for a response. `k` is the row of the
   * monitor's kind.
   */
  readonly shown?: { readonly columns: string; readonly joins: string }
}

/** Identifies a monitor. */
export type MonitorRef = Pick<KindRow, "monitor_id" | "workspace_id">

export interface MonitorFilters extends ListFilters, Pick<MonitorQuery, "status"> {}

/** The values by which lists of monitors can be sorted. */
export const monitorSorts = { name: sortByName("m.name") }

/** Reads and writes the monitors of one kind. `Shown` are the columns of other tables. */
export interface MonitorTableRepo<Row, Columns, Shown> {
  readonly find: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<Option.Option<Row & Shown>>
  readonly findByKey: (
    workspaceId: AuthorizedWorkspaceId,
    key: string
  ) => Effect.Effect<Option.Option<Row & Shown>>
  readonly list: (
    workspaceId: AuthorizedWorkspaceId,
    filters: MonitorFilters,
    page: ListRequest,
    now: Date
  ) => Effect.Effect<ReadonlyArray<Row & Shown & PageRow>>
  readonly count: (
    workspaceId: AuthorizedWorkspaceId,
    filters: MonitorFilters,
    now: Date
  ) => Effect.Effect<number>
  /**
   * Locks the monitor's row in `monitors` and the row of its kind. If only one row were locked, the
   * other could have values from before the wait for the lock.
   */
  readonly findForUpdate: (
    workspaceId: AuthorizedWorkspaceId,
    id: string
  ) => Effect.Effect<Option.Option<Row>>
  /**
   * Locks monitors whose `check_at` has passed, the oldest first. Monitors that are already locked
   * are skipped.
   */
  readonly findDueForUpdate: (at: Date, limit: number) => Effect.Effect<ReadonlyArray<Row>>
  readonly findNextCheck: Effect.Effect<Date | undefined>
  /**
   * Writes the given columns of the monitor's kind. Absent columns receive their defaults, and the
   * object's other fields are ignored.
   */
  readonly insert: (id: MonitorRef, columns: Partial<Columns>) => Effect.Effect<void>
  readonly update: (id: MonitorRef, columns: Partial<Columns>) => Effect.Effect<void>
}

const commonColumns =
  "m.id, m.workspace_id, m.key, m.version, m.name, m.tags, m.status, m.changed_at, m.open_incident_id, " +
  "m.created_by, m.updated_by, m.created_at, m.updated_at, k.monitor_id, k.version AS row_version, " +
  `${dependsOnColumn("m")} AS depends_on`

/** Lists the columns to select of a monitor `m` and the row `k` of its kind. */
export const selectedMonitorColumns = ({
  columns
}: Pick<MonitorTable<object>, "columns">): string =>
  [commonColumns, ...Object.keys(columns).map((name) => `k.${name}`)].join(", ")

export const monitorTableRepo = <Row extends KindRow, Columns extends object, Shown = unknown>(
  sql: SqlClient.SqlClient,
  table: MonitorTable<Columns>
): MonitorTableRepo<Row, Columns, Shown> => {
  const columns = sql.literal(selectedMonitorColumns(table))
  const name = sql.literal(table.name)
  const joined = sql.literal(`FROM ${table.name} AS k JOIN monitors AS m ON m.id = k.monitor_id`)
  const late = table.lateAfter === undefined ? undefined : `k.${table.lateAfter}`
  const shownWith = (further: string) =>
    sql.literal(
      `${selectedMonitorColumns(table)}${table.shown === undefined ? "" : `, ${table.shown.columns}`} ${further}
    FROM ${table.name} AS k
    JOIN monitors AS m ON m.id = k.monitor_id
    ${table.shown?.joins ?? ""}`
    )

  const shown = shownWith("")

  const findWhere = Effect.fnUntraced(function* (
    workspaceId: AuthorizedWorkspaceId,
    condition: Statement.Fragment
  ) {
    const rows = yield* sql<Row & Shown>`
      SELECT ${shown}
      WHERE m.workspace_id = ${workspaceId}
        AND m.kind = ${table.kind}
        AND ${condition}`
    return Option.fromNullishOr(rows[0])
  }, Effect.orDie)

  return {
    find: (workspaceId, id) => findWhere(workspaceId, sql`m.id = ${id}`),

    findByKey: (workspaceId, key) => findWhere(workspaceId, sql`m.key = ${key}`),

    list: Effect.fn("MonitorTableRepo.list")(function* (workspaceId, filters, page, now) {
      return yield* sql<Row & Shown & PageRow>`
        SELECT ${shownWith(sortColumn(page))}
        WHERE m.workspace_id = ${workspaceId}
          AND m.kind = ${table.kind}
          AND ${isListedAfter(sql, page, "m.id")}
          ${matchesMonitorFilters(sql, filters, monitorStatusSql(sql, late, now))}
        ORDER BY ${sql.literal(listOrder(page, "m.id"))}
        LIMIT ${page.limit + 1}`
    }, Effect.orDie),

    count: Effect.fn("MonitorTableRepo.count")(function* (workspaceId, filters, now) {
      return yield* countRows(
        sql,
        sql`
          SELECT
          ${joined}
          WHERE m.workspace_id = ${workspaceId}
            AND m.kind = ${table.kind}
            ${matchesMonitorFilters(sql, filters, monitorStatusSql(sql, late, now))}`
      )
    }, Effect.orDie),

    findForUpdate: Effect.fn("MonitorTableRepo.findForUpdate")(function* (workspaceId, id) {
      const rows = yield* sql<Row>`
        SELECT ${columns}
        ${joined}
        WHERE k.workspace_id = ${workspaceId}
          AND k.monitor_id = ${id}
          AND m.kind = ${table.kind}
        FOR UPDATE OF k, m`
      return Option.fromNullishOr(rows[0])
    }, Effect.orDie),

    findDueForUpdate: Effect.fn("MonitorTableRepo.findDueForUpdate")(function* (at, limit) {
      return yield* sql<Row>`
        SELECT ${columns}
        ${joined}
        WHERE k.check_at <= ${at}
        ORDER BY k.check_at
        LIMIT ${limit}
        FOR UPDATE OF k, m SKIP LOCKED`
    }, Effect.orDie),

    findNextCheck: sql<{ readonly check_at: Date | null }>`
      SELECT min(check_at) AS check_at
      FROM ${name}
      WHERE check_at IS NOT NULL`.pipe(
      Effect.map(([row]) => row?.check_at ?? undefined),
      Effect.orDie,
      Effect.withSpan("MonitorTableRepo.findNextCheck")
    ),

    insert: Effect.fn("MonitorTableRepo.insert")(function* ({ monitor_id, workspace_id }, given) {
      const values = columnParameters(sql, table.columns, given)
      yield* sql`
        INSERT INTO ${name}
          (monitor_id, workspace_id, ${sql.csv(values.map(({ column }) => column))})
        VALUES (${monitor_id}, ${workspace_id}, ${sql.csv(values.map(({ value }) => value))})`
    }, Effect.orDie),

    update: Effect.fn("MonitorTableRepo.update")(function* ({ monitor_id, workspace_id }, given) {
      const set = columnParameters(sql, table.columns, given).map(
        ({ column, value }) => sql`${sql.literal(column)} = ${value}`
      )
      yield* sql`
        UPDATE ${name}
        SET ${sql.csv([sql.literal("version = version + 1"), ...set])}
        WHERE workspace_id = ${workspace_id}
          AND monitor_id = ${monitor_id}`
    }, Effect.orDie)
  }
}

/**
 * SQL that computes the status of a monitor `m`. `late` is the column with the time after which the
 * monitor is late.
 */
export const monitorStatusSql = (
  sql: SqlClient.SqlClient,
  late: string | undefined,
  now: Date
): Statement.Fragment =>
  late === undefined
    ? sql.literal("m.status")
    : sql`CASE
        WHEN m.status IN ('new', 'up') AND ${sql.literal(late)} < ${now} THEN 'late'
        ELSE m.status
      END`

export const matchesMonitorFilters = (
  sql: SqlClient.SqlClient,
  { status, ...filters }: MonitorFilters,
  statusNow: Statement.Fragment
): Statement.Fragment => sql`
  ${matchesFilters(sql, "m", filters)}
  ${status === undefined ? sql.literal("") : sql`AND ${statusNow} = ANY (${status}::text[])`}`

/**
 * Converts a row to the fields that monitors of all kinds have in the API. `lateAfter` is null for
 * kinds that cannot be late.
 */
export const toMonitorFields = (
  row: MonitorRow,
  now: Date,
  next_check_at: Date | null,
  lateAfter: Date | null = null
) => {
  const lateSince =
    (row.status === "new" || row.status === "up") && lateAfter !== null && lateAfter < now
      ? lateAfter
      : undefined
  const status: MonitorStatus = lateSince === undefined ? row.status : "late"
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    key: row.key,
    version: row.version,
    name: row.name,
    tags: row.tags,
    depends_on: row.depends_on,
    paused: row.status === "paused",
    status,
    last_change_at: timestampOf(lateSince ?? row.changed_at),
    next_check_at: timestampOrNull(next_check_at),
    open_incident_id: row.open_incident_id,
    created_by: row.created_by,
    updated_by: row.updated_by ?? row.created_by,
    created_at: timestampOf(row.created_at),
    updated_at: timestampOf(row.updated_at)
  }
}
