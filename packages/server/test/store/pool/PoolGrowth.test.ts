import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { setTimeout } from "node:timers/promises"
import { sizeWhileShort } from "../../../src/store/pool/PoolGrowth.ts"
import { postgresLayer, Store } from "../../../src/store/Sql.ts"
import { makePostgresCluster, noCluster } from "../../support/PostgresCluster.ts"
import { eventually } from "../../support/ServerProcess.ts"
import { onPostgres } from "../../support/TestDatabase.ts"

/** For statements that others have under way. */
const aMoment = Effect.promise(() => setTimeout(100))

/** PostgreSQL ends a transaction that asks nothing for 10 s, and a slow machine may need longer. */
const keptBusyUntil = Effect.fnUntraced(function* (mayEnd: Deferred.Deferred<void>) {
  const sql = yield* SqlClient.SqlClient
  const aWhile = Effect.promise(() => setTimeout(1_000))
  while (!(yield* Deferred.isDone(mayEnd))) {
    yield* Effect.raceFirst(Deferred.await(mayEnd), aWhile)
    yield* sql`SELECT 1`
  }
})

/** A server, and a pool of four connections that may grow. */
const startDatabase = Effect.fnUntraced(function* (
  serverConnections: number,
  grownConnections: number
) {
  const postgres = yield* makePostgresCluster(serverConnections)
  yield* postgres.start
  yield* postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app")
  const url = Redacted.make(postgres.url)
  return { postgres, database: postgresLayer({ url, maxConnections: 4, grownConnections }) }
})

const beginTransaction = Effect.fnUntraced(function* (mayEnd: Deferred.Deferred<void>) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT 1 AS n`.pipe(
    Effect.tap(keptBusyUntil(mayEnd)),
    sql.withTransaction,
    Effect.forkChild
  )
})

describe("the size of a pool whose transactions wait", () => {
  const sizeOf = (now: number, used: number, allowed = 100) =>
    sizeWhileShort({ now, least: 4, most: 16 }, { used, allowed })

  it("grows by two while a quarter of the connections is left, up to its most", () => {
    assert.deepStrictEqual([sizeOf(4, 30), sizeOf(15, 30), sizeOf(16, 30)], [6, 16, 16])
    assert.deepStrictEqual([sizeOf(4, 74), sizeOf(4, 75), sizeOf(10, 90)], [5, 4, 10])
  })

  it("shrinks by two when hardly any is left, down to what it had", () => {
    assert.deepStrictEqual([sizeOf(10, 91), sizeOf(5, 97), sizeOf(4, 97)], [8, 4, 4])
  })
})

const skipped = onPostgres ? noCluster : "TEST_DATABASE_URL is not set"

describe.skipIf(skipped !== undefined)(
  `a pool whose transactions wait${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    it.effect("has more connections as long as the server has them, and then those it had", () =>
      Effect.gen(function* () {
        const { database } = yield* startDatabase(30, 100)
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { pool } = yield* Store
          const mayEnd = yield* Deferred.make<void>()
          const transactions = yield* Effect.forEach(
            Array.from({ length: 60 }, (_, n) => n),
            (n) =>
              sql`SELECT ${n}::int AS n`.pipe(
                Effect.tap(keptBusyUntil(mayEnd)),
                sql.withTransaction,
                // A savepoint on a connection of either pool.
                sql.withTransaction,
                Effect.forkChild
              )
          )
          yield* eventually("transactions", async () => pool.transactions === 3)
          // A look counts the connections that are open, so those of the look before are waited for.
          // One may fail on a busy machine, and the next comes after a pause.
          for (let look = 0; look < 100 && pool.size < 20; look++) {
            yield* TestClock.adjust(500)
            yield* aMoment
            yield* eventually("their connections", async () => pool.transactions === pool.size - 1)
          }
          yield* TestClock.adjust(5_000)
          yield* aMoment
          yield* eventually("the last ones", async () => pool.transactions === pool.size - 1)
          assert.isAtLeast(pool.size, 20)
          const [used] = yield* sql<{ readonly n: number }>`
            SELECT sum(numbackends)::int AS n
            FROM pg_stat_database`
          assert.isAtMost(used?.n ?? Infinity, 24)
          yield* Deferred.succeed(mayEnd, undefined)
          const ended = yield* Fiber.joinAll(transactions)
          assert.deepStrictEqual(
            ended,
            transactions.map((_, n) => [{ n }])
          )
          yield* TestClock.adjust(50_000)
          assert.isAbove(pool.size, 4)
          yield* TestClock.adjust(15_000)
          yield* eventually("the size that it had", async () => pool.size === 4)
        }).pipe(Effect.provide(database))
      })
    )

    it.effect("answers who only reads while its transactions open their connections", () =>
      Effect.gen(function* () {
        const { database } = yield* startDatabase(20, 16)
        const readAfter = Effect.fnUntraced(function* (ms: number) {
          const sql = yield* SqlClient.SqlClient
          const mayEnd = yield* Deferred.make<void>()
          yield* Effect.replicateEffect(beginTransaction(mayEnd), 3)
          yield* Effect.promise(() => setTimeout(ms))
          const read = yield* Effect.forkChild(sql`SELECT 2 AS n`)
          for (let look = 0; look < 100 && read.pollUnsafe() === undefined; look++) {
            yield* TestClock.adjust(500)
            yield* aMoment
          }
          assert.deepStrictEqual(read.pollUnsafe(), Exit.succeed([{ n: 2 }]))
          yield* Deferred.succeed(mayEnd, undefined)
        })
        for (let ms = 0; ms < 20; ms += 2) yield* Effect.provide(readAfter(ms), database)
      })
    )

    it.effect("manages with its old size when others took the last connections of the server", () =>
      Effect.gen(function* () {
        const { database, postgres } = yield* startDatabase(20, 16)
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { pool } = yield* Store
          const mayEnd = yield* Deferred.make<void>()
          const first = yield* Effect.replicateEffect(beginTransaction(mayEnd), 3)
          yield* eventually("transactions", async () => pool.transactions === 3)
          yield* TestClock.adjust(500)
          yield* sql`SELECT 1 AS n`
          yield* postgres.takeAllConnections
          yield* pool.resize(10)
          const others = yield* Effect.replicateEffect(beginTransaction(mayEnd), 5)
          yield* eventually("the size that it had", async () => pool.size === 4)
          yield* Deferred.succeed(mayEnd, undefined)
          const ended = yield* Fiber.joinAll([...first, ...others])
          assert.deepStrictEqual(
            ended,
            Array.from({ length: 8 }, () => [{ n: 1 }])
          )
        }).pipe(Effect.provide(database))
      })
    )
  }
)
