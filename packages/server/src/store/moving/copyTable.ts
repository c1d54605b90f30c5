import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Partition, Table } from "./catalog.ts"

/** The maximum size of the rows that are in memory. The size of the next rows is estimated. */
const batchBytes = 2 * 1024 * 1024

const firstBatch = 50

const largestBatch = 5_000

/**
 * Copies the rows in PostgreSQL's text format, so that no conversion can change a value. Both
 * databases must be in a transaction. Returns the number of rows.
 */
export const copyTable = Effect.fnUntraced(function* (
  from: SqlClient.SqlClient,
  to: SqlClient.SqlClient,
  { columns, has_triggers, name }: Table
) {
  const fields = columns.map((column) => to`(whole).${to(column)}`)
  // Triggers are disabled, because the rows that they created in the source are copied as well.
  if (has_triggers) yield* to`ALTER TABLE ${to(name)} DISABLE TRIGGER USER`
  yield* from`
    DECLARE moving NO SCROLL CURSOR FOR
    SELECT moved::text AS line
    FROM ${from(name)} AS moved`
  let copied = 0
  let batch = firstBatch
  while (true) {
    const rows = yield* from<{ readonly line: string }>`
      FETCH FORWARD ${from.literal(String(batch))} FROM moving`
    if (rows.length === 0) break
    const lines = rows.map(({ line }) => line)
    yield* to`
      INSERT INTO ${to(name)} (${to.csv(columns.map((column) => to`${to(column)}`))})
      OVERRIDING SYSTEM VALUE
      SELECT ${to.csv(fields)}
      FROM (
        SELECT line::${to(name)} AS whole
        FROM unnest(${lines}::text[]) AS lines (line)
        OFFSET 0
      ) AS read`
    copied += lines.length
    const bytes = lines.reduce((sum, line) => sum + line.length, 0)
    batch = Math.max(1, Math.min(largestBatch, Math.floor((lines.length * batchBytes) / bytes)))
  }
  yield* from`CLOSE moving`
  if (has_triggers) yield* to`ALTER TABLE ${to(name)} ENABLE TRIGGER USER`
  return copied
})

/** Creates the same partitions in the target as in the source, with the same bounds. */
export const copyPartitions = Effect.fnUntraced(function* (
  to: SqlClient.SqlClient,
  wanted: ReadonlyArray<Partition>,
  existing: ReadonlyArray<Partition>
) {
  for (const { name, parent } of existing) {
    yield* to`ALTER TABLE ${to(parent)} DETACH PARTITION ${to(name)}`
  }
  const names = new Set(existing.map(({ name }) => name))
  for (const { bounds, name, parent } of wanted) {
    if (!names.has(name)) yield* to`CREATE TABLE ${to(name)} (LIKE ${to(parent)} INCLUDING ALL)`
    yield* to`ALTER TABLE ${to(parent)} ATTACH PARTITION ${to(name)} ${to.literal(bounds)}`
  }
})

/** Sets the sequence of the target so that it continues where the source would. */
export const copySequence = Effect.fnUntraced(function* (
  from: SqlClient.SqlClient,
  to: SqlClient.SqlClient,
  name: string
) {
  const [at] = yield* from<{ readonly last_value: string; readonly is_called: boolean }>`
    SELECT last_value::text, is_called
    FROM ${from(name)}`
  if (at === undefined) return
  yield* to`SELECT setval(${name}::regclass, ${at.last_value}::bigint, ${at.is_called})`
})

/**
 * Computes a checksum of a table. It is equal in two databases if the rows are equal, in any order.
 */
export const fingerprint = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string) {
  const [found] = yield* sql<{ readonly print: string }>`
    SELECT count(*) || ' rows ' ||
      coalesce(sum(('x' || left(md5(moved::text), 15))::bit(60)::bigint), 0) AS print
    FROM ${sql(name)} AS moved`
  return found?.print
})
