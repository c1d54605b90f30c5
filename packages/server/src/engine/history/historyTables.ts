import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { dayMs } from "../../core/index.ts"
import { firstIdAt, timeOfId } from "../RunId.ts"
import type { HistoryPartition } from "./planPartitions.ts"

export const historyTables = ["earlier_attempts", "executions", "monitor_events"] as const
export type HistoryTable = (typeof historyTables)[number]

export const dayOf = (ms: number): number => Math.floor(ms / dayMs)

export const dayPartitionName = (table: HistoryTable, day: number): string =>
  `${table}_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`

export const beforePartitionName = (table: HistoryTable): string => `${table}_before`

export const aheadPartitionName = (table: HistoryTable): string => `${table}_ahead`

export const findToday = (sql: SqlClient.SqlClient) =>
  sql<{ readonly ms: number }>`
    SELECT date_part('epoch', now()) * 1000 AS ms`.pipe(Effect.map(([row]) => dayOf(row?.ms ?? 0)))

export const listHistoryPartitions = (sql: SqlClient.SqlClient, table: HistoryTable) =>
  sql<{ readonly name: string; readonly bounds: string }>`
    SELECT relname AS name, pg_get_expr(relpartbound, oid) AS bounds
    FROM pg_inherits
    JOIN pg_class ON oid = inhrelid
    WHERE inhparent = ${table}::regclass`.pipe(Effect.map((rows) => rows.map(toPart)))

/** Lists partitions that are detached from the history and can be dropped. */
export const listDetachedPartitions = (sql: SqlClient.SqlClient, table: HistoryTable) =>
  sql<{ readonly name: string }>`
    SELECT relname AS name
    FROM pg_class
    WHERE relname ~ ${`^${table}_[0-9]{8}$`}
      AND relkind = 'r'
      AND NOT relispartition
      AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ${table}::regclass)`.pipe(
    Effect.map((rows) => rows.map(({ name }) => name))
  )

/** Returns whether `ahead` contains more than `count` rows of days before `to`. */
export const aheadHasMoreRowsThan = (
  sql: SqlClient.SqlClient,
  table: HistoryTable,
  { count, to }: { readonly count: number; readonly to: number }
) =>
  sql`
    SELECT
    FROM ${sql(aheadPartitionName(table))}
    WHERE ${ids(sql, table, { to })}
    OFFSET ${count}
    LIMIT 1`.pipe(Effect.map((rows) => rows.length > 0))

export const createHistoryPartition = (
  sql: SqlClient.SqlClient,
  table: HistoryTable,
  name: string
) => sql`CREATE TABLE ${sql(name)} (LIKE ${sql(table)} INCLUDING ALL)`

/**
 * Adds a table as a partition. Unlike CREATE TABLE ... PARTITION OF, ATTACH takes a lock on the
 * history that lets reads and writes continue.
 */
export const attachPartition = (
  sql: SqlClient.SqlClient,
  table: HistoryTable,
  { from, name, to }: HistoryPartition
) =>
  sql`
    ALTER TABLE ${sql(table)}
    ATTACH PARTITION ${sql(name)}
    FOR VALUES FROM (${boundary(sql, from)}) TO (${boundary(sql, to)})`

export const detachPartition = (sql: SqlClient.SqlClient, table: HistoryTable, name: string) =>
  sql`ALTER TABLE ${sql(table)} DETACH PARTITION ${sql(name)}`

/** Moves rows between two tables. Neither may be attached as a partition. */
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

/**
 * Deletes the rows of days before `day` from `before`, the partition of days that have no partition
 * of their own.
 */
export const removeOldRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  table: HistoryTable,
  day: number
) {
  const removeSome = sql`
    DELETE FROM ${sql(beforePartitionName(table))}
    WHERE ctid = ANY (ARRAY (
      SELECT ctid
      FROM ${sql(beforePartitionName(table))}
      WHERE ${ids(sql, table, { to: day })}
      LIMIT ${deleteBatch}
    ))
    RETURNING 1`
  while ((yield* removeSome).length === deleteBatch);
})

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

const toPart = ({
  bounds,
  name
}: {
  readonly name: string
  readonly bounds: string
}): HistoryPartition => {
  const [, from, to] = /FROM \((\S+)\) TO \((\S+)\)/.exec(bounds) ?? []
  return { name, from: dayIn(from) ?? -Infinity, to: dayIn(to) ?? Infinity }
}

const dayIn = (bound: string | undefined): number | undefined => {
  const id = /^'([0-9a-f-]{36})'$/.exec(bound ?? "")?.[1]
  return id === undefined ? undefined : dayOf(timeOfId(id))
}
