import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { dayMs } from "../../core/index.ts"
import { firstIdAt, timeOfId } from "../RunId.ts"
import type { Part } from "./planDays.ts"

export const tables = ["earlier_attempts", "executions", "monitor_events"] as const
export type HistoryTable = (typeof tables)[number]

export const dayOf = (ms: number): number => Math.floor(ms / dayMs)

export const nameOfDay = (table: HistoryTable, day: number): string =>
  `${table}_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`

export const beforeOf = (table: HistoryTable): string => `${table}_before`

export const aheadOf = (table: HistoryTable): string => `${table}_ahead`

export const findToday = (sql: SqlClient.SqlClient) =>
  sql<{ readonly ms: number }>`
    SELECT date_part('epoch', now()) * 1000 AS ms`.pipe(Effect.map(([row]) => dayOf(row?.ms ?? 0)))

export const listParts = (sql: SqlClient.SqlClient, table: HistoryTable) =>
  sql<{ readonly name: string; readonly bounds: string }>`
    SELECT relname AS name, pg_get_expr(relpartbound, oid) AS bounds
    FROM pg_inherits
    JOIN pg_class ON oid = inhrelid
    WHERE inhparent = ${table}::regclass`.pipe(Effect.map((rows) => rows.map(toPart)))

/** Lists partitions that are detached from the history and can be dropped. */
export const listDetached = (sql: SqlClient.SqlClient, table: HistoryTable) =>
  sql<{ readonly name: string }>`
    SELECT relname AS name
    FROM pg_class
    WHERE relname ~ ${`^${table}_[0-9]{8}$`}
      AND relkind = 'r'
      AND NOT relispartition
      AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ${table}::regclass)`.pipe(
    Effect.map((rows) => rows.map(({ name }) => name))
  )

/** Returns whether more than `count` rows belong to days before `to`. */
export const hasMoreThan = (
  sql: SqlClient.SqlClient,
  table: HistoryTable,
  { count, to }: { readonly count: number; readonly to: number }
) =>
  sql`
    SELECT
    FROM ${sql(aheadOf(table))}
    WHERE ${ids(sql, table, { to })}
    OFFSET ${count}
    LIMIT 1`.pipe(Effect.map((rows) => rows.length > 0))

export const makePart = (sql: SqlClient.SqlClient, table: HistoryTable, name: string) =>
  sql`CREATE TABLE ${sql(name)} (LIKE ${sql(table)} INCLUDING ALL)`

/**
 * ATTACH takes a much weaker lock on the history than CREATE TABLE ... PARTITION OF: reads and
 * writes continue.
 */
export const attach = (sql: SqlClient.SqlClient, table: HistoryTable, { from, name, to }: Part) =>
  sql`
    ALTER TABLE ${sql(table)}
    ATTACH PARTITION ${sql(name)}
    FOR VALUES FROM (${boundary(sql, from)}) TO (${boundary(sql, to)})`

export const detach = (sql: SqlClient.SqlClient, table: HistoryTable, name: string) =>
  sql`ALTER TABLE ${sql(table)} DETACH PARTITION ${sql(name)}`

/** Moves rows between two tables that are not attached. */
export const moveRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: HistoryTable,
  { into, out, ...days }: { readonly out: string; readonly into: string } & Days
) {
  const columns = yield* sql<{ readonly name: string }>`
    SELECT attname AS name
    FROM pg_attribute
    WHERE attrelid = ${table}::regclass
      AND attnum > 0
      AND NOT attisdropped
      AND attgenerated = ''`
  const list = sql.csv(columns.map(({ name }) => sql`${sql(name)}`))
  yield* sql`
    WITH moved AS (
      DELETE FROM ${sql(out)}
      WHERE ${ids(sql, table, days)}
      RETURNING *
    )
    INSERT INTO ${sql(into)} (${list})
    SELECT ${list}
    FROM moved`
})

/** Deletes rows of earlier days that have no partition of their own. */
export const removeBefore = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: HistoryTable,
  day: number
) {
  const removeSome = sql`
    DELETE FROM ${sql(beforeOf(table))}
    WHERE ctid = ANY (ARRAY (
      SELECT ctid
      FROM ${sql(beforeOf(table))}
      WHERE ${ids(sql, table, { to: day })}
      LIMIT ${deleteBatch}
    ))
    RETURNING 1`
  while ((yield* removeSome).length === deleteBatch);
})

// ---------------------------------------------------------------------------

const deleteBatch = 5_000

interface Days {
  readonly from?: number
  readonly to?: number
}

const ids = (sql: SqlClient.SqlClient, table: HistoryTable, { from, to }: Days) => {
  const id = sql(table === "earlier_attempts" ? "execution_id" : "id")
  return sql.and([
    ...(from === undefined ? [] : [sql`${id} >= ${boundary(sql, from)}`]),
    ...(to === undefined ? [] : [sql`${id} < ${boundary(sql, to)}`])
  ])
}

const boundary = (sql: SqlClient.SqlClient, day: number) => {
  if (day === -Infinity) return sql.literal("MINVALUE")
  return sql.literal(day === Infinity ? "MAXVALUE" : `'${firstIdAt(day * dayMs)}'`)
}

const toPart = ({ bounds, name }: { readonly name: string; readonly bounds: string }): Part => {
  const [, from, to] = /FROM \((\S+)\) TO \((\S+)\)/.exec(bounds) ?? []
  return { name, from: dayIn(from) ?? -Infinity, to: dayIn(to) ?? Infinity }
}

const dayIn = (bound: string | undefined): number | undefined => {
  const id = /^'([0-9a-f-]{36})'$/.exec(bound ?? "")?.[1]
  return id === undefined ? undefined : dayOf(timeOfId(id))
}
