import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { Store } from "../../../src/store/Sql.ts"
import { eventually } from "../../support/ServerProcess.ts"
import {
  databaseLayer,
  freshDatabaseUrl,
  onPostgres,
  testDatabaseUrl
} from "../../support/TestDatabase.ts"

const connections = 4

const onPool = <A, E>(test: Effect.Effect<A, E, SqlClient.SqlClient | Store>) =>
  Effect.gen(function* () {
    const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
    return yield* Effect.provide(test, databaseLayer(url, connections))
  })

describe.skipIf(!onPostgres)("a pool with long transactions", () => {
  it.live("runs single statements without delay, and each transaction in the end", () =>
    onPool(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { pool } = yield* Store
        const mayEnd = yield* Deferred.make<void>()
        let begun = 0
        const transactions = yield* Effect.forEach(
          Array.from({ length: 3 * connections }, (_, n) => n),
          (n) =>
            sql`SELECT ${n}::int AS n`.pipe(
              Effect.tap(() => {
                begun++
                return Deferred.await(mayEnd)
              }),
              sql.withTransaction,
              Effect.forkChild
            )
        )
        yield* eventually("transactions", async () => begun >= connections - 1)
        const answered = yield* sql`SELECT 1 AS n`.pipe(Effect.timeoutOption("5 seconds"))
        assert.deepInclude(pool, { size: 4, transactions: 3, waiting: 9 })
        assert.strictEqual(pool.connections, 4)
        yield* Deferred.succeed(mayEnd, undefined)
        const ended = yield* Fiber.joinAll(transactions)
        assert.deepInclude(answered, { value: [{ n: 1 }] })
        assert.deepStrictEqual(
          ended,
          transactions.map((_, n) => [{ n }])
        )
        assert.deepInclude(pool, { transactions: 0, waiting: 0 })
      })
    )
  )

  it.live("does not count interrupted transactions, neither waiting nor open ones", () =>
    onPool(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { pool } = yield* Store
        const endless = sql.withTransaction(Effect.andThen(sql`SELECT 1`, Effect.never))
        const fibers = yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.forkChild(endless))
        yield* eventually("transactions", async () => pool.transactions === 3)
        assert.strictEqual(pool.waiting, 2)
        yield* Fiber.interruptAll(fibers)
        assert.deepInclude(pool, { transactions: 0, waiting: 0 })
      })
    )
  )

  it.live("counts a transaction within another once", () =>
    onPool(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const nested = sql.withTransaction(sql.withTransaction(sql`SELECT 1 AS n`))
        const all = yield* Effect.all([nested, nested, nested, nested], {
          concurrency: "unbounded"
        }).pipe(Effect.timeout("10 seconds"))
        assert.strictEqual(all.length, 4)
      })
    )
  )
})
