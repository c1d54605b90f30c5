/**
 * Writes the schema of the next release, with rows in every table, to
 * `test/store/released/<version>.json`. As soon as `CHANGELOG.md` has that version as released, the
 * file never changes again, and all later migrations are tested on it. With `--check` it compares
 * instead.
 */
import { Effect, References, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import packageJson from "../package.json" with { type: "json" }
import { migrations } from "../src/store/migrations/index.ts"
import { listTables, sortByReferences } from "../src/store/moving/catalog.ts"
import { embeddedLayer } from "../src/store/Sql.ts"
import { rowsForAllTables } from "../test/support/rowsForAllTables.ts"
import type { ReleasedVersion } from "../test/store/support/released.ts"
import { writeOrCheck } from "./writeOrCheck.ts"

/** Runs a migration and returns the statements that it ran. */
const recorded = Effect.fnUntraced(function* (
  migration: Effect.Effect<unknown, unknown, SqlClient.SqlClient>
) {
  const statements: Array<string> = []
  const tracer = Tracer.make({
    span: (options) =>
      Object.assign(new Tracer.NativeSpan(options), {
        attribute: (key: string, value: unknown) => {
          if (key === "db.query.text") statements.push(String(value))
        }
      })
  })
  yield* Effect.withTracer(migration, tracer)
  const withParameter = statements.find((text) => /\$\d/.test(text.replaceAll(/\$\$|'[^']*'/g, "")))
  if (withParameter !== undefined) {
    return yield* Effect.die(new Error(`a migration has a parameter: ${withParameter}`))
  }
  return statements.map((text) => text.trim())
})

const released = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP SCHEMA public CASCADE`
  yield* sql`CREATE SCHEMA public`
  yield* sql`SET timezone = 'UTC'`
  const created: Record<string, ReadonlyArray<string>> = {}
  for (const [name, migration] of Object.entries(migrations))
    created[name] = yield* recorded(migration)
  const before = (yield* rowReader(sql)).filter(({ lines }) => lines.length > 0)
  for (const statement of rowsForAllTables(new Date("2026-01-15"))) yield* sql.unsafe(statement)
  const rows = (yield* rowReader(sql)).filter(
    ({ table }) => !before.some((one) => one.table === table)
  )
  const empty = rows.find(({ lines }) => lines.length === 0)
  if (empty !== undefined) {
    return yield* Effect.die(
      new Error(`test/support/rowsForAllTables.ts has no row for ${empty.table}`)
    )
  }
  return { migrations: created, rows } satisfies ReleasedVersion
})

const rowReader = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const all: Array<ReleasedVersion["rows"][number]> = []
  for (const { columns, name } of sortByReferences(yield* listTables(sql))) {
    const found = yield* sql<{ readonly line: string }>`
      SELECT kept::text AS line
      FROM ${sql(name)} AS kept`
    const lines = found.map(({ line }) => line).toSorted()
    all.push({ table: name, columns, lines })
  }
  return all
})

const { version } = packageJson
const changelog = readFileSync(new URL("../../../CHANGELOG.md", import.meta.url), "utf8")

if (!changelog.includes(`\n## [${version}]`)) {
  const found = await Effect.runPromise(
    released.pipe(
      Effect.provide(embeddedLayer({ dataDir: undefined })),
      Effect.provideService(References.MinimumLogLevel, "Warn")
    )
  )
  const file = new URL(`../test/store/released/${version}.json`, import.meta.url)
  writeOrCheck(file, `${JSON.stringify(found, undefined, 2)}\n`)
}
