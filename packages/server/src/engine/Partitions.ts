import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { isLockTimeout } from "../store/index.ts"
import { type DaysPlan, type Part, planDays } from "./history/planDays.ts"
import {
  aheadOf,
  attach,
  beforeOf,
  detach,
  findToday,
  hasMoreThan,
  listDetached,
  listParts,
  makePart,
  moveRows,
  nameOfDay,
  removeBefore,
  type HistoryTable,
  tables
} from "./history/tables.ts"

/**
 * A reader of the history (`pg_dump` reads for hours) prevents days from being attached or
 * detached, and all other queries queue behind the waiting statement. Therefore maintenance gives
 * up soon and tries again later.
 */
const lockTimeoutMs = 50

/** Moving more rows than this would block all readers and writers of the history for too long. */
const movedAtMost = 10_000

/**
 * The partitions of the history: one per day, `before` for ids of all earlier days, and `ahead` for
 * ids from the first day that has no partition yet. Every id has a partition, even that of a run
 * that waited for weeks in a queue or for a node. Days are created as they approach, and their rows
 * move in from `ahead`. There are few of them: runs that were cancelled before they were due.
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
       * Lets one node at a time alter the tables, and gives up before the lock request delays
       * others.
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
        parts: ReadonlyArray<Part>,
        { expired, from, missing, to }: DaysPlan
      ) {
        const [before, ahead] = [beforeOf(table), aheadOf(table)]
        const aheadFrom = parts.find(({ name }) => name === ahead)?.from ?? -Infinity
        const beforeTo = parts.find(({ name }) => name === before)?.to
        // The slowest part runs before the history is locked.
        const days = missing.map((day) => ({ name: nameOfDay(table, day), from: day, to: day + 1 }))
        for (const { name } of days) yield* makePart(sql, table, name)
        if (beforeTo === undefined) yield* makePart(sql, table, before)
        for (const { name } of expired) yield* detach(sql, table, name)
        if (beforeTo !== undefined && beforeTo !== from) yield* detach(sql, table, before)
        if (aheadFrom !== to) {
          yield* detach(sql, table, ahead)
          yield* moveRows(sql, table, { out: ahead, into: before, to: from })
          for (const day of days) {
            yield* moveRows(sql, table, { ...day, out: ahead, into: day.name })
          }
        }
        for (const day of days) yield* attach(sql, table, day)
        if (aheadFrom !== to) yield* attach(sql, table, { name: ahead, from: to, to: Infinity })
        if (beforeTo !== from)
          yield* attach(sql, table, { name: before, from: -Infinity, to: from })
      })

      /**
       * If maintenance was blocked for days, `ahead` contains the history of these days. It becomes
       * one partition for all of them, and a new `ahead` is created.
       */
      const replaceAhead = Effect.fnUntraced(function* (
        table: HistoryTable,
        { from, to }: DaysPlan
      ) {
        const [before, ahead] = [beforeOf(table), aheadOf(table)]
        const parts = yield* listParts(sql, table)
        const aheadFrom = parts.find(({ name }) => name === ahead)?.from ?? -Infinity
        const filled = { name: nameOfDay(table, to - 1), from: Math.max(from, aheadFrom), to }
        yield* detach(sql, table, ahead)
        yield* sql`ALTER TABLE ${sql(ahead)} RENAME TO ${sql(filled.name)}`
        yield* makePart(sql, table, ahead)
        yield* moveRows(sql, table, { out: filled.name, into: ahead, from: to })
        if (aheadFrom < from) {
          yield* makePart(sql, table, before)
          yield* moveRows(sql, table, { out: filled.name, into: before, to: from })
          yield* attach(sql, table, { name: before, from: -Infinity, to: from })
        }
        yield* attach(sql, table, filled)
        yield* attach(sql, table, { name: ahead, from: to, to: Infinity })
      })

      const arrangeDays = Effect.fnUntraced(function* (
        table: HistoryTable,
        today: number,
        retentionDays: number
      ) {
        const plan = planDays(yield* listParts(sql, table), today, retentionDays)
        if (plan === undefined) return
        if (yield* hasMoreThan(sql, table, { count: movedAtMost, to: plan.to })) {
          yield* replaceAhead(table, plan)
        }
        const parts = yield* listParts(sql, table)
        const rest = planDays(parts, today, retentionDays)
        if (rest !== undefined) yield* arrange(table, parts, rest)
      }, alter)

      return Partitions.of({
        maintain: Effect.fn("Partitions.maintain")(function* (retentionDays) {
          const today = yield* findToday(sql)
          let isDone = true
          /**
           * After one change was blocked, the others are skipped: one short wait per pass is
           * enough.
           */
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
            if (planDays(yield* listParts(sql, table), today, retentionDays) !== undefined) {
              yield* unlessInUse(arrangeDays(table, today, retentionDays))
            }
            // Does not lock the history, because deleting gigabytes of files takes a while.
            for (const name of yield* listDetached(sql, table)) {
              yield* unlessInUse(alter(sql`DROP TABLE IF EXISTS ${sql(name)}`))
            }
            const parts = yield* listParts(sql, table)
            if (parts.some(({ name }) => name === beforeOf(table))) {
              yield* removeBefore(sql, table, today - retentionDays)
            }
          }
          return isDone
        })
      })
    })
  )
}

const maintenanceLock = 0x5c4ef
