// @tags stores
import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { storeLayer } from "./support/embedded.ts"

layer(storeLayer({ dataDir: undefined }), { excludeTestServices: true })(
  "the store in memory",
  (it) => {
    it.effect("gives each of many concurrent statements its own result", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ask = (n: number) =>
          Effect.map(sql<{ n: number }>`SELECT ${n}::int AS n`, (rows) => rows[0]?.n)
        const numbers = Array.from({ length: 500 }, (_, n) => n)
        assert.deepStrictEqual(
          yield* Effect.forEach(numbers, ask, { concurrency: "unbounded" }),
          numbers
        )
      })
    )

    it.effect("fails the wrong statement of a batch and runs the others", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const results = yield* Effect.forEach(
          [1, 0, 2, 0, 4],
          (n) => Effect.exit(sql<{ n: number }>`SELECT 8 / ${n}::int AS n`),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(results.map(Exit.isSuccess), [true, false, true, false, true])
      })
    )

    it.effect("commits and rolls back, while other statements wait", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE counted (n int)`
        const inTransaction = Effect.andThen(
          sql`INSERT INTO counted VALUES (1)`,
          sql`INSERT INTO counted VALUES (2)`
        )
        yield* Effect.all(
          [
            sql.withTransaction(inTransaction),
            Effect.flip(sql.withTransaction(Effect.andThen(inTransaction, Effect.fail("no")))),
            sql`INSERT INTO counted VALUES (3)`
          ],
          { concurrency: "unbounded" }
        )
        const rows = yield* sql<{ n: number }>`SELECT n FROM counted ORDER BY n`
        assert.deepStrictEqual(
          rows.map((row) => row.n),
          [1, 2, 3]
        )
      })
    )

    it.effect("returns many large rows", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ filler: string }>`
          SELECT repeat(n::text, 1000) AS filler FROM generate_series(1000, 2999) AS n`
        assert.strictEqual(rows.length, 2000)
        assert.strictEqual(
          rows.reduce((sum, row) => sum + row.filler.length, 0),
          8_000_000
        )
        const one = yield* sql<{ filler: string }>`SELECT repeat('x', 5000000) AS filler`
        assert.strictEqual(one[0]?.filler.length, 5_000_000)
      })
    )

    it.effect("accepts a parameter of 5 MB", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const filler = "x".repeat(5_000_000)
        const rows = yield* sql<{ size: number }>`SELECT length(${filler}::text) AS size`
        assert.strictEqual(rows[0]?.size, 5_000_000)
      })
    )

    it.effect("supports the features of PostgreSQL that the run queue needs", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE parted (id int, day date) PARTITION BY RANGE (day)`
        yield* sql`
          CREATE TABLE parted_1 PARTITION OF parted
          FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')`
        const days = ["2026-01-01", "2026-01-02", "2026-01-03"]
        yield* sql`
          INSERT INTO parted (id, day)
          SELECT id, day::date
          FROM unnest(${[1, 2, 3]}::int[], ${days}::text[]) AS t (id, day)`
        const claimed = yield* sql<{ id: number }>`
          DELETE FROM parted
          WHERE id IN (SELECT id FROM parted ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED)
          RETURNING id`
        assert.deepStrictEqual(claimed.map((row) => row.id).toSorted(), [1, 2])
        const percentile = yield* sql<{ p: number }>`
          SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS p
          FROM generate_series(1, 9) AS n`
        assert.strictEqual(percentile[0]?.p, 5)
        const locks = yield* sql<{ locked: boolean }>`
          SELECT pg_try_advisory_xact_lock(1) AS locked`
        assert.strictEqual(locks[0]?.locked, true)
        const zone = yield* sql<{ TimeZone: string }>`SHOW timezone`
        assert.strictEqual(zone[0]?.TimeZone, "UTC")
      })
    )

    it.effect("starts again when the engine stops at a fatal error", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // A COPY from a client that sends no data causes a fatal error. PGlite by itself would then
        // loop forever.
        const error = yield* Effect.flip(sql`COPY pg_database FROM STDIN`)
        assert.strictEqual(error.reason._tag, "ConnectionError")
        const rows = yield* Effect.retry(sql`SELECT 1 AS n`, { times: 3 })
        assert.deepStrictEqual(rows, [{ n: 1 }])
      })
    )
  }
)
