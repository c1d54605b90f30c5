import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { migrations } from "../../src/store/migrations/index.ts"
import { migrateWith } from "../../src/store/Sql.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

/** Fails with the error that PostgreSQL reports when its lock table is full. */
const failForNow = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''53200'', MESSAGE = ''no memory''; END'`
)

const fail = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`ALTER TABLE absent ADD later integer`)

layer(Layer.fresh(TestDatabaseLayer), { excludeTestServices: true })("a migration", (it) => {
  it.effect("is tried again if its failure is temporary", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let tries = 0
      const later = Effect.gen(function* () {
        yield* sql`CREATE TABLE later (id integer)`
        if (++tries < 2) yield* failForNow
      })
      yield* migrateWith({ ...migrations, "9998_later": later })
      assert.strictEqual(tries, 2)
      assert.isEmpty(yield* sql`SELECT id FROM later`)
    })
  )

  it.effect("that fails says why", () =>
    Effect.gen(function* () {
      const later = { "9998_later": Effect.void, "9999_wrong": fail }
      const error = yield* Effect.flip(migrateWith({ ...migrations, ...later }))
      assert.match(error.message, /^Migration "9999_wrong" failed: .*"absent" does not exist/)
    })
  )
})
