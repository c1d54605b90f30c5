// @tags stores
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { dumpSchema } from "../../scripts/dumpSchema.ts"
import { type Migrations, migrations } from "../../src/store/migrations/index.ts"
import { listMigrations } from "../../src/store/moving/catalog.ts"
import { migrateDatabase, migrateWith } from "../../src/store/Sql.ts"
import { ask } from "../support/http.ts"
import { startNode, TestApp, testConfig } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { loadReleased, readReleased, type ReleasedVersion } from "./support/released.ts"

const folder = new URL("released/", import.meta.url)
const today = readFileSync(new URL("../../schema.sql", import.meta.url), "utf8")

const versions = readdirSync(folder).map((file) => ({
  version: file.replace(".json", ""),
  released: JSON.parse(readFileSync(new URL(file, folder), "utf8")) as ReleasedVersion
}))

const upgraded = Effect.fnUntraced(function* (released: ReleasedVersion, known: Migrations) {
  const sql = yield* SqlClient.SqlClient
  yield* loadReleased(sql, released)
  const before = yield* Effect.forEach(released.rows, (one) => readReleased(sql, one))
  yield* migrateWith(known)
  for (const [index, one] of released.rows.entries()) {
    assert.isAbove(one.lines.length, 0, one.table)
    assert.deepStrictEqual(yield* readReleased(sql, one), before[index], one.table)
  }
  assert.deepStrictEqual(
    (yield* listMigrations(sql)).map(({ name }) => name),
    Object.keys(known)
  )
})

/** A later version's migration, which changes a table that has rows and adds a table. */
const withLater: Migrations = {
  ...migrations,
  "9999_later": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE users ADD COLUMN later integer NOT NULL DEFAULT 7`
    yield* sql`CREATE TABLE later (id integer PRIMARY KEY)`
  })
}

layer(Layer.fresh(TestDatabaseLayer), { excludeTestServices: true, timeout: "60 seconds" })(
  "a store of a released version",
  (it) => {
    it.effect.each(versions)("is upgraded from $version with all its rows", ({ released }) =>
      Effect.gen(function* () {
        yield* upgraded(released, migrations)
        assert.strictEqual(yield* dumpSchema, today)
        const url = yield* startNode(testConfig)
        const app = TestApp.of({ url, otherUrl: url, logs: [] })
        const { status } = yield* Effect.provideService(
          ask("GET", "/v1/ready?deep=1"),
          TestApp,
          app
        )
        assert.strictEqual(status, 200)
      })
    )

    it.effect.each(versions)("of $version is upgraded by a later migration", ({ released }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* upgraded(released, withLater)
        assert.deepStrictEqual(yield* sql`SELECT DISTINCT later FROM users`, [{ later: 7 }])
        assert.deepStrictEqual(yield* sql`SELECT id FROM later`, [])
        assert.include((yield* Effect.flip(migrateDatabase)).message, "does not know: 9999_later. ")
      })
    )
  }
)
