import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { isLockTimeout } from "../sql/failures.ts"
import { dayMs } from "../platform/millis.ts"
import { firstIdAt, timeOfId } from "./RunId.ts"

/** Days made ahead. If a lock is in the way of one, a later round makes it. */
const daysAhead = 3

/**
 * A reader of the history (`pg_dump` reads for hours) keeps days from being attached or detached,
 * and everybody else queues behind the statement that waits. So maintenance gives up soon and tries
 * again later.
 */
const lockTimeoutMs = 50

/**
 * The partitions of the history: one per day, and `ahead` for all ids from the first day that is
 * not made yet. Days are made as they come near, and the rows that `ahead` has for them move in.
 * These are few: runs that were cancelled before they were due. After weeks without a node, earlier
 * days can be missing too. Whoever writes to such a day makes it first.
 */
export class Partitions extends Context.Service<
  Partitions,
  {
    /** Makes the days of these moments, except days that `ahead` still holds. */
    readonly ensure: (timesMs: ReadonlyArray<number>) => Effect.Effect<void, SqlError.SqlError>
    /**
     * Makes the days around now and drops those that are older than the retention. False if a
     * reader was in the way of some of it.
     */
    readonly maintain: (retentionDays: number) => Effect.Effect<boolean, SqlError.SqlError>
  }
>()("@scheduling/server/queue/Partitions") {
  static readonly layer: Layer.Layer<Partitions, never, SqlClient.SqlClient> = Layer.effect(
    Partitions,
    Effect.map(SqlClient.SqlClient, (sql) => {
      /** Lets one node at a time alter the tables, and gives up before that holds others up. */
      const alter = <A, E>(change: Effect.Effect<A, E>) =>
        sql.withTransaction(
          sql`SELECT pg_advisory_xact_lock(${maintenanceLock})`.pipe(
            Effect.andThen(sql`SET LOCAL lock_timeout = ${sql.literal(String(lockTimeoutMs))}`),
            Effect.andThen(change)
          )
        )

      const makeMissing = Effect.fnUntraced(function* (table: Table, days: ReadonlySet<number>) {
        const made = yield* listDays(sql, table)
        const first = yield* firstDayAhead(sql, table)
        for (const day of days) {
          if (made.has(day) || day >= first) continue
          yield* makeDay(sql, table, day)
          yield* attachDay(sql, table, day)
        }
      }, alter)

      /** Lets `ahead` begin on the day after `last`, and makes the days in between. */
      const moveAhead = Effect.fnUntraced(function* (table: Table, from: number, last: number) {
        const first = yield* firstDayAhead(sql, table)
        if (first > last) return
        const days = yield* daysOfRowsAhead(sql, table)
        for (let day = Math.max(first, from); day <= last; day++) days.add(day)
        const made = yield* listDays(sql, table)
        const missing = [...days].filter((day) => day <= last && !made.has(day))
        // The slowest part comes before the lock on the whole history.
        for (const day of missing) yield* makeDay(sql, table, day)
        yield* sql`ALTER TABLE ${sql(table)} DETACH PARTITION ${sql(`${table}_ahead`)}`
        for (const day of missing) {
          yield* moveRows(sql, table, day)
          yield* attachDay(sql, table, day)
        }
        yield* sql`
          ALTER TABLE ${sql(table)}
          ATTACH PARTITION ${sql(`${table}_ahead`)}
          FOR VALUES FROM (${boundary(sql, last + 1)}) TO (MAXVALUE)`
      }, alter)

      const detach = Effect.fnUntraced(function* (table: Table, day: number) {
        if (!(yield* listDays(sql, table)).has(day)) return
        yield* sql`
          ALTER TABLE ${sql(table)}
          DETACH PARTITION ${sql(nameOfDay(table, day))}`
      }, alter)

      return Partitions.of({
        ensure: Effect.fn("Partitions.ensure")(function* (timesMs) {
          const days = new Set(timesMs.map(dayOf))
          for (const table of tables) yield* makeMissing(table, days)
        }),

        maintain: Effect.fn("Partitions.maintain")(function* (retentionDays) {
          const today = yield* findToday(sql)
          const last = today + daysAhead
          let isDone = true
          /** After one change was blocked, the rest is left for later: one short wait is enough. */
          const unlessInUse = <E>(change: Effect.Effect<unknown, E>) =>
            Effect.suspend(() => (isDone ? Effect.asVoid(change) : Effect.void)).pipe(
              Effect.catchIf(isLockTimeout, () =>
                Effect.sync(() => {
                  isDone = false
                })
              )
            )
          for (const table of tables) {
            // Checked first, because usually there is nothing to do and no need for a lock.
            if ((yield* firstDayAhead(sql, table)) <= last) {
              yield* unlessInUse(moveAhead(table, today - 1, last))
            }
            for (const day of yield* listDays(sql, table)) {
              if (day < today - retentionDays) yield* unlessInUse(detach(table, day))
            }
            // Without the lock on the whole history, because deleting gigabytes of files takes a
            // while.
            for (const day of yield* listDetachedDays(sql, table)) {
              yield* unlessInUse(alter(sql`DROP TABLE IF EXISTS ${sql(nameOfDay(table, day))}`))
            }
          }
          return isDone
        })
      })
    })
  )
}

const tables = ["earlier_attempts", "executions", "monitor_events"] as const
type Table = (typeof tables)[number]

const maintenanceLock = 0x5c4ef

const dayOf = (ms: number): number => Math.floor(ms / dayMs)

const nameOfDay = (table: Table, day: number): string =>
  `${table}_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`

const boundary = (sql: SqlClient.SqlClient, day: number) =>
  sql.literal(`'${firstIdAt(day * dayMs)}'`)

const findToday = (sql: SqlClient.SqlClient) =>
  sql<{ readonly ms: number }>`
    SELECT date_part('epoch', now()) * 1000 AS ms`.pipe(Effect.map(([row]) => dayOf(row?.ms ?? 0)))

const daysOf = (rows: ReadonlyArray<{ readonly name: string }>) =>
  new Set(
    rows.flatMap(({ name }) => {
      const date = /_(\d{4})(\d\d)(\d\d)$/.exec(name)
      if (date === null) return []
      return [dayOf(Date.UTC(Number(date[1]), Number(date[2]) - 1, Number(date[3])))]
    })
  )

const listDays = (sql: SqlClient.SqlClient, table: Table) =>
  sql<{ readonly name: string }>`
    SELECT pg_class.relname AS name
    FROM pg_inherits
    JOIN pg_class ON pg_class.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = ${table}::regclass`.pipe(Effect.map(daysOf))

/** Days that no longer belong to the history and wait to be dropped. */
const listDetachedDays = (sql: SqlClient.SqlClient, table: Table) =>
  sql<{ readonly name: string }>`
    SELECT relname AS name
    FROM pg_class
    WHERE relname ~ ${`^${table}_[0-9]{8}$`}
      AND relkind = 'r'
      AND NOT relispartition
      AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = ${table}::regclass)`.pipe(
    Effect.map(daysOf)
  )

/** The first day of `ahead`. Before the first maintenance, that is the beginning of time. */
const firstDayAhead = (sql: SqlClient.SqlClient, table: Table) =>
  sql<{ readonly bounds: string }>`
    SELECT pg_get_expr(relpartbound, oid) AS bounds
    FROM pg_class
    WHERE oid = ${`${table}_ahead`}::regclass`.pipe(
    Effect.map(([row]) => {
      const from = /FROM \('([0-9a-f-]{36})'\)/.exec(row?.bounds ?? "")?.[1]
      return from === undefined ? 0 : dayOf(timeOfId(from))
    })
  )

const daysOfRowsAhead = (sql: SqlClient.SqlClient, table: Table) =>
  sql<{ readonly id: string }>`
    SELECT DISTINCT ON (left(${idColumn(sql, table)}::text, 13)) ${idColumn(sql, table)} AS id
    FROM ${sql(`${table}_ahead`)}`.pipe(
    Effect.map((rows) => new Set(rows.map(({ id }) => dayOf(timeOfId(id)))))
  )

const idColumn = (sql: SqlClient.SqlClient, table: Table) =>
  sql(table === "earlier_attempts" ? "execution_id" : "id")

const makeDay = (sql: SqlClient.SqlClient, table: Table, day: number) =>
  sql`CREATE TABLE ${sql(nameOfDay(table, day))} (LIKE ${sql(table)} INCLUDING ALL)`

/**
 * ATTACH locks the parent far less than CREATE TABLE ... PARTITION OF: reading and writing go on.
 */
const attachDay = (sql: SqlClient.SqlClient, table: Table, day: number) =>
  sql`
    ALTER TABLE ${sql(table)}
    ATTACH PARTITION ${sql(nameOfDay(table, day))}
    FOR VALUES FROM (${boundary(sql, day)}) TO (${boundary(sql, day + 1)})`

const moveRows = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: Table, day: number) {
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
      DELETE FROM ${sql(`${table}_ahead`)}
      WHERE ${idColumn(sql, table)} >= ${boundary(sql, day)}
        AND ${idColumn(sql, table)} < ${boundary(sql, day + 1)}
      RETURNING *
    )
    INSERT INTO ${sql(nameOfDay(table, day))} (${list})
    SELECT ${list}
    FROM moved`
})
