// @tags stores
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { dumpSchema } from "../../scripts/dumpSchema.ts"
import { listPartitions, listTables } from "../../src/store/moving/catalog.ts"
import {
  migrateWithPartitions,
  type MigratedContents,
  readCatalogs,
  resetDatabase
} from "../support/emptyDatabase.ts"
import { rowsForAllTables } from "../support/rowsForAllTables.ts"
import {
  databaseLayer,
  freshDatabaseUrl,
  TestDatabaseLayer,
  testDatabaseUrl
} from "../support/TestDatabase.ts"

const run = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))

/** Reads everything in a database that a test file could observe. */
const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.forEach(yield* listTables(sql), ({ name }) =>
    Effect.map(
      sql<{ readonly row: string }>`SELECT kept::text AS row FROM ${sql(name)} AS kept`,
      (found) => [name, found.map(({ row }) => row)] as const
    )
  )
  const sequences = yield* sql`
    SELECT sequencename, last_value
    FROM pg_sequences
    ORDER BY sequencename`
  const known = yield* sql`
    SELECT starelid::regclass::text
    FROM pg_statistic
    JOIN pg_class ON pg_class.oid = starelid
    WHERE relnamespace = 'public'::regnamespace`
  const counted = yield* sql`
    SELECT relname
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
      AND relkind = 'r'
      AND reltuples >= 0`
  const partitions = (yield* listPartitions(sql)).toSorted((one, other) =>
    one.name < other.name ? -1 : 1
  )
  return { rows, sequences, known, counted, partitions, schema: yield* dumpSchema }
})

const fill = Effect.forEach(rowsForAllTables(new Date()), run)

const manyRows = `
  INSERT INTO removed_workspaces (id)
  SELECT gen_random_uuid()
  FROM generate_series(1, 5000)`

const DatabaseLayer =
  testDatabaseUrl === undefined
    ? TestDatabaseLayer
    : Layer.unwrap(Effect.map(freshDatabaseUrl(testDatabaseUrl), (url) => databaseLayer(url, 1)))

class New extends Context.Service<
  New,
  { readonly migrated: MigratedContents; readonly found: Effect.Success<typeof everything> }
>()("@scheduling/server/test/sql/emptyDatabase/New") {
  static readonly layer = Layer.effect(
    New,
    Effect.gen(function* () {
      const migrated = yield* migrateWithPartitions
      return New.of({ migrated, found: yield* everything })
    })
  ).pipe(Layer.provideMerge(DatabaseLayer), Layer.orDie)
}

const isNewAgain = Effect.gen(function* () {
  const { found, migrated } = yield* New
  assert.strictEqual(yield* resetDatabase(migrated), migrated)
  assert.deepStrictEqual(yield* everything, found)
})

layer(Layer.fresh(New.layer), { excludeTestServices: true, timeout: "60 seconds" })(
  "the database of a test file",
  (it) => {
    it.effect("has no rows of the previous file, neither few nor many", () =>
      Effect.gen(function* () {
        yield* fill
        for (const [name, rows] of (yield* everything).rows) {
          assert.isAbove(rows.length, 0, name)
        }
        yield* run(manyRows)
        yield* run("SELECT nextval('execution_ordinals')")
        yield* run("ANALYZE users, executions, removed_workspaces")
        yield* isNewAgain
        // An emptied table still has pages, but no rows.
        yield* fill
        yield* isNewAgain
      })
    )

    it.effect("is also emptied by a user who is not a superuser", () =>
      Effect.gen(function* () {
        const name = `scheduling_test_${randomBytes(8).toString("hex")}`
        yield* fill
        yield* run(manyRows)
        yield* run(`CREATE ROLE ${name} IN ROLE pg_read_all_data`)
        yield* run(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${name}`)
        yield* run(`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${name}`)
        yield* run(`SET ROLE ${name}`)
        yield* Effect.ensuring(
          isNewAgain,
          Effect.forEach(["RESET ROLE", `DROP OWNED BY ${name}`, `DROP ROLE ${name}`], (text) =>
            Effect.orDie(run(text))
          )
        )
      })
    )

    it.effect("has the partitions that a new node creates, and no others", () =>
      Effect.gen(function* () {
        yield* run("ALTER TABLE executions DETACH PARTITION executions_before")
        yield* run(`
          ALTER TABLE executions
          ATTACH PARTITION executions_before
          FOR VALUES FROM (MINVALUE) TO ('00000000-0000-7000-8000-000000000000')`)
        yield* run(`
          CREATE TABLE executions_19700101
          PARTITION OF executions
          FOR VALUES FROM ('00000000-0000-7000-8000-000000000000')
          TO ('00000000-0000-7000-8000-000000000001')`)
        yield* isNewAgain
      })
    )

    it.effect.each([
      "ALTER TABLE users ADD COLUMN more integer",
      "ALTER TABLE users ALTER COLUMN name SET NOT NULL",
      "ALTER TABLE users ALTER COLUMN name SET DEFAULT ''",
      "ALTER TABLE users DISABLE TRIGGER ALL",
      "ALTER TABLE users SET (fillfactor = 50)",
      "ALTER TABLE sessions DROP CONSTRAINT sessions_pkey CASCADE",
      "CREATE INDEX more ON users (name)",
      "CREATE TABLE more ()",
      "CREATE FUNCTION more() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
      "CREATE SCHEMA more",
      "DROP TABLE executions_ahead"
    ])("is no longer as it was after %s", (change) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { shape } = (yield* New).migrated
        assert.strictEqual((yield* readCatalogs).shape, shape)
        const changed = yield* Effect.flip(
          sql.withTransaction(
            Effect.andThen(
              Effect.orDie(run(change)),
              Effect.flatMap(readCatalogs, (looked) => Effect.fail(looked))
            )
          )
        )
        assert.notStrictEqual("shape" in changed ? changed.shape : shape, shape)
      })
    )

    // This test must be last, because it creates another database.
    it.effect("is created again if a test has changed a table", () =>
      Effect.gen(function* () {
        const { found, migrated } = yield* New
        yield* fill
        yield* run("ALTER TABLE users ADD COLUMN more integer")
        assert.notStrictEqual(yield* resetDatabase(migrated), migrated)
        assert.deepStrictEqual(yield* everything, found)
      })
    )
  }
)
