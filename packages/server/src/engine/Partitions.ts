import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { isLockTimeout } from "../store/index.ts"
import {
  type PartitionPlan,
  type HistoryPartition,
  planPartitions
} from "./history/planPartitions.ts"
import {
  aheadPartitionName,
  attachPartition,
  beforePartitionName,
  detachPartition,
  findToday,
  aheadHasMoreRowsThan,
  listDetachedPartitions,
  listHistoryPartitions,
  createHistoryPartition,
  moveRows,
  dayPartitionName,
  removeOldRows,
  type HistoryTable,
  historyTables
} from "./history/historyTables.ts"

/**
 * How long maintenance waits for a lock. A reader of the history, such as `pg_dump`, can prevent
 * days from being attached or detached for hours, and all other queries would wait behind the
 * waiting statement. Maintenance therefore gives up soon and tries again later.
 */
const lockTimeoutMs = 50

/**
 * The maximum number of rows that are moved. Moving more would block all readers and writers of the
 * history for too long.
 */
const maxMovedRows = 10_000

/**
 * The partitions of the history: one per day, `before` for ids of all earlier days, and `ahead` for
 * ids from the first day that has no partition yet. Every id has a partition, even the id of a run
 * that waited for weeks in a queue or for a node. The partition of a day is created before the day
 * begins, and rows of that day are moved from `ahead` to it. Few rows have to move, because only
 * runs that were cancelled before they were due are in `ahead`.
 */
export class Partitions extends Context.Service<
  Partitions,
  {
    /**
     * Creates the days around now and drops days beyond the retention. Returns false if a reader
     * blocked part of it.
     */
    readonly maintain: (retentionDays: number) => Effect.Effect<boolean, SqlError.SqlError>
  }
>()("@scheduling/server/engine/Partitions") {
  static readonly layer: Layer.Layer<Partitions, never, SqlClient.SqlClient> = Layer.effect(
    Partitions,
    Effect.map(SqlClient.SqlClient, (sql) => {
      /**
       * Changes the tables. Only one node at a time may do so, and it gives up before its lock
       * request delays others.
       */
      const alter = <A, E>(change: Effect.Effect<A, E>) =>
        sql.withTransaction(
          sql`SELECT pg_advisory_xact_lock(${maintenanceLock})`.pipe(
            Effect.andThen(sql`SET LOCAL lock_timeout = ${sql.literal(String(lockTimeoutMs))}`),
            Effect.andThen(change)
          )
        )

      /**
       * Changes the bounds of `before` and `ahead`, and creates the partitions of the days between
       * them.
       */
      const arrange = Effect.fnUntraced(function* (
        table: HistoryTable,
        parts: ReadonlyArray<HistoryPartition>,
        { expired, from, missing, to }: PartitionPlan
      ) {
        const [before, ahead] = [beforePartitionName(table), aheadPartitionName(table)]
        const aheadFrom = parts.find(({ name }) => name === ahead)?.from ?? -Infinity
        const beforeTo = parts.find(({ name }) => name === before)?.to
        // Tables are created before the history is locked, because this is the slowest part.
        const days = missing.map((day) => ({
          name: dayPartitionName(table, day),
          from: day,
          to: day + 1
        }))
        for (const { name } of days) yield* createHistoryPartition(sql, table, name)
        if (beforeTo === undefined) yield* createHistoryPartition(sql, table, before)
        for (const { name } of expired) yield* detachPartition(sql, table, name)
        if (beforeTo !== undefined && beforeTo !== from) yield* detachPartition(sql, table, before)
        if (aheadFrom !== to) {
          yield* detachPartition(sql, table, ahead)
          yield* moveRows(sql, table, { out: ahead, into: before, to: from })
          for (const day of days) {
            yield* moveRows(sql, table, { ...day, out: ahead, into: day.name })
          }
        }
        for (const day of days) yield* attachPartition(sql, table, day)
        if (aheadFrom !== to)
          yield* attachPartition(sql, table, { name: ahead, from: to, to: Infinity })
        if (beforeTo !== from)
          yield* attachPartition(sql, table, { name: before, from: -Infinity, to: from })
      })

      /**
       * Turns `ahead` into one partition for several days, and creates a new `ahead`. This is
       * needed if maintenance was blocked for days: `ahead` then contains the history of these
       * days, which is too much to move.
       */
      const replaceAhead = Effect.fnUntraced(function* (
        table: HistoryTable,
        { from, to }: PartitionPlan
      ) {
        const [before, ahead] = [beforePartitionName(table), aheadPartitionName(table)]
        const parts = yield* listHistoryPartitions(sql, table)
        const aheadFrom = parts.find(({ name }) => name === ahead)?.from ?? -Infinity
        const filled = {
          name: dayPartitionName(table, to - 1),
          from: Math.max(from, aheadFrom),
          to
        }
        yield* detachPartition(sql, table, ahead)
        yield* sql`ALTER TABLE ${sql(ahead)} RENAME TO ${sql(filled.name)}`
        yield* createHistoryPartition(sql, table, ahead)
        yield* moveRows(sql, table, { out: filled.name, into: ahead, from: to })
        if (aheadFrom < from) {
          yield* createHistoryPartition(sql, table, before)
          yield* moveRows(sql, table, { out: filled.name, into: before, to: from })
          yield* attachPartition(sql, table, { name: before, from: -Infinity, to: from })
        }
        yield* attachPartition(sql, table, filled)
        yield* attachPartition(sql, table, { name: ahead, from: to, to: Infinity })
      })

      const arrangeDays = Effect.fnUntraced(function* (
        table: HistoryTable,
        today: number,
        retentionDays: number
      ) {
        const plan = planPartitions(yield* listHistoryPartitions(sql, table), today, retentionDays)
        if (plan === undefined) return
        if (yield* aheadHasMoreRowsThan(sql, table, { count: maxMovedRows, to: plan.to })) {
          yield* replaceAhead(table, plan)
        }
        const parts = yield* listHistoryPartitions(sql, table)
        const rest = planPartitions(parts, today, retentionDays)
        if (rest !== undefined) yield* arrange(table, parts, rest)
      }, alter)

      return Partitions.of({
        maintain: Effect.fn("Partitions.maintain")(function* (retentionDays) {
          const today = yield* findToday(sql)
          let isDone = true
          /**
           * Runs a change unless an earlier change was blocked, because waiting for a lock once per
           * pass is enough.
           */
          const unlessInUse = <E>(change: Effect.Effect<unknown, E>) =>
            Effect.suspend(() => (isDone ? Effect.asVoid(change) : Effect.void)).pipe(
              Effect.catchIf(isLockTimeout, () =>
                Effect.sync(() => {
                  isDone = false
                })
              )
            )
          for (const table of historyTables) {
            // The partitions are read first. Usually nothing has to change, and no lock is needed.
            if (
              planPartitions(yield* listHistoryPartitions(sql, table), today, retentionDays) !==
              undefined
            ) {
              yield* unlessInUse(arrangeDays(table, today, retentionDays))
            }
            // Detached tables are dropped without a lock on the history, because deleting gigabytes
            // of files takes a while.
            for (const name of yield* listDetachedPartitions(sql, table)) {
              yield* unlessInUse(alter(sql`DROP TABLE IF EXISTS ${sql(name)}`))
            }
            const parts = yield* listHistoryPartitions(sql, table)
            if (parts.some(({ name }) => name === beforePartitionName(table))) {
              yield* removeOldRows(sql, table, today - retentionDays)
            }
          }
          return isDone
        })
      })
    })
  )
}

const maintenanceLock = 0x5c4ef
