// @tags stores
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { dumpSchema } from "../../scripts/dumpSchema.ts"
import { migrations } from "../../src/store/migrations/index.ts"
import { migrate } from "../../src/store/Sql.ts"
import { ask } from "../support/http.ts"
import { startNode, TestApp, testConfig } from "../support/TestApp.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { loadReleased, readReleased, type Released } from "./support/released.ts"

const folder = new URL("released/", import.meta.url)
const today = readFileSync(new URL("../../schema.sql", import.meta.url), "utf8")

const versions = readdirSync(folder).map((file) => ({
  version: file.replace(".json", ""),
  released: JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Released
}))

/** After this migration none changes a table of an earlier one, so its rows fit. */
const beforeOnlyNewTables = (released: Released): number => {
  const all = Object.values(released.migrations)
  return (
    1 + all.findLastIndex((statements) => statements.some((text) => /\bALTER TABLE\b/.test(text)))
  )
}

const upgraded = Effect.fnUntraced(function* (released: Released, upTo?: number) {
  const sql = yield* SqlClient.SqlClient
  const loaded = yield* loadReleased(sql, released, upTo)
  const before = yield* Effect.forEach(loaded, (one) => readReleased(sql, one))
  yield* migrate
  for (const [index, one] of loaded.entries()) {
    assert.isAbove(one.lines.length, 0, one.table)
    assert.deepStrictEqual(yield* readReleased(sql, one), before[index], one.table)
  }
  const applied = yield* sql<{ readonly migration_id: number }>`
    SELECT migration_id FROM effect_sql_migrations ORDER BY migration_id`
  assert.deepStrictEqual(
    applied.map(({ migration_id }) => migration_id),
    Object.keys(migrations).map((name) => Number(name.slice(0, 4)))
  )
  assert.strictEqual(yield* dumpSchema, today)
})

layer(Layer.fresh(TestDatabaseLayer), { excludeTestServices: true, timeout: "60 seconds" })(
  "a store of a released version",
  (it) => {
    it.effect.each(versions)("is upgraded from $version with all its rows", ({ released }) =>
      Effect.gen(function* () {
        yield* upgraded(released)
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

    it.effect.each(versions)("is upgraded from within the making of $version too", ({ released }) =>
      upgraded(released, beforeOnlyNewTables(released))
    )
  }
)
