// @tags processes long
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as path from "node:path"
import { moveStore } from "../../../src/operations/operator/Move.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { Partitions } from "../../../src/engine/Partitions.ts"
import { initializeDirectory } from "../../../src/store/embedded/initialize.ts"
import { embeddedLayer } from "../../../src/store/Sql.ts"
import { listPartitions, listTables } from "../../../src/store/moving/catalog.ts"
import { createDataDirectory } from "../../support/createDataDirectory.ts"
import { rowsForAllTables } from "../../support/rowsForAllTables.ts"
import { temporaryFolder } from "../../support/ServerProcess.ts"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"

const onSource = <A, E>(dataDir: string, work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(work, embeddedLayer({ dataDir }).pipe(Layer.orDie), { local: true })

const onTarget = <A, E>(url: string, work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(work, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }), {
    local: true
  })

const now = new Date()

const many = 7_000

/** Inserts rows into every table, and enough rows for several batches into some tables. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.provide(
    Effect.flatMap(Partitions, (partitions) => partitions.maintain(30)),
    Partitions.layer
  )
  for (const statement of rowsForAllTables(now)) yield* sql.unsafe(statement)
  yield* sql`
    INSERT INTO removed_workspaces (id)
    SELECT gen_random_uuid()
    FROM generate_series(1, ${many})`
  const ids = [0, 1, 100].map((days) => makeRunId(now.getTime() + days * 86_400_000, now.getTime()))
  yield* sql`
    INSERT INTO executions (
      id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at, attempts_count
    )
    SELECT id, gen_random_uuid(), gen_random_uuid(), 'cron', 'schedule', 'cancelled', now(), now(), 0
    FROM unnest(${ids}::uuid[]) AS ids (id)`
  // Inserts a large row after many small rows.
  yield* sql`
    INSERT INTO earlier_attempts (execution_id, number, workspace_id, started_at, response_body, error)
    SELECT ${ids[0]}::uuid, number, gen_random_uuid(), now(), repeat('x', number * 100000), 'node_lost: lost'
    FROM generate_series(1, 20) AS number`
  yield* sql`SELECT nextval('execution_ordinals') FROM generate_series(1, 10)`
  yield* sql`INSERT INTO nodes (holds_lock, lease_until) VALUES (false, 'infinity')`
})

/** Reads all rows of all tables as text, and each sequence's next value. */
const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET timezone = 'UTC'`
  const rows: Record<string, ReadonlyArray<string>> = {}
  for (const { columns, name } of yield* listTables(sql)) {
    // On PostgreSQL, a node from the embedded store counts as dead.
    const compared = name === "nodes" ? columns.filter((column) => column !== "died_at") : undefined
    const list = compared === undefined ? sql`*` : sql.csv(compared.map((one) => sql`${sql(one)}`))
    const found = yield* sql<{ readonly row: string }>`
      SELECT row_to_json(all_of)::text AS row
      FROM (SELECT ${list} FROM ${sql(name)}) AS all_of`
    rows[name] = found.map(({ row }) => row).toSorted()
  }
  const sequences = yield* sql`
    SELECT sequencename, last_value FROM pg_sequences ORDER BY sequencename`
  return { rows, sequences, partitions: yield* listPartitions(sql) }
})

const run = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))

const refusal = (dataDir: string, url: string) =>
  Effect.map(
    Effect.flip(moveStore({ dataDir, to: Redacted.make(url) })),
    (error) => (error as Error).message
  )

const url = freshDatabaseUrl(testDatabaseUrl ?? "")

layer(Layer.empty, { excludeTestServices: true, timeout: "120 seconds" })("a move", (it) => {
  it.effect.skipIf(testDatabaseUrl === undefined)(
    "copies every row, every partition and every sequence, and does not change the source",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* createDataDirectory("move")
        const to = yield* url
        const before = yield* onSource(dataDir, Effect.andThen(fill, everything))
        for (const [name, rows] of Object.entries(before.rows)) {
          assert.isAbove(rows.length, 0, `rowsForAllTables.ts has no row for ${name}`)
        }
        const moved = yield* moveStore({ dataDir, to: Redacted.make(to) })
        const after = yield* onTarget(to, everything)
        for (const [name, rows] of Object.entries(before.rows)) {
          assert.deepStrictEqual(after.rows[name], rows, name)
          assert.strictEqual(moved.find(({ table }) => table === name)?.rows, rows.length, name)
        }
        assert.deepStrictEqual(after, { ...before, rows: after.rows })
        assert.isAtLeast(after.partitions.length, 3 * 4)
        assert.deepStrictEqual(yield* onSource(dataDir, everything), before)

        const alive = yield* onTarget(
          to,
          run(
            `SELECT id FROM nodes WHERE died_at IS NULL UNION ALL SELECT 0 FROM pg_trigger WHERE tgenabled <> 'O' AND NOT tgisinternal`
          )
        )
        assert.deepStrictEqual(alive, [])
        assert.match(yield* refusal(dataDir, to), /^the target is not empty: the table /)
      }),
    300_000
  )

  it.effect.skipIf(testDatabaseUrl === undefined)(
    "is rejected if it cannot be complete",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* createDataDirectory("move")
        const to = yield* url
        const onTo = (statement: string) => onTarget(to, run(statement))
        const bare = yield* temporaryFolder("bare")
        yield* Effect.promise((signal) => initializeDirectory(path.join(bare, "postgres"), signal))
        assert.match(yield* refusal(bare, to), /effect_sql_migrations/)
        assert.match(
          yield* refusal(yield* temporaryFolder("empty"), to),
          /^there is no embedded store in /
        )

        yield* onTo("CREATE TABLE mine ()")
        assert.match(yield* refusal(dataDir, to), /tables of another program/)
        yield* onTo("DROP TABLE mine")

        // At first, the target has the schema but no rows. Then it has a different version's
        // schema.
        yield* Effect.void.pipe(Effect.provide(databaseLayer(to), { local: true }))
        yield* onTo("INSERT INTO effect_sql_migrations VALUES (9999, now(), 'of_tomorrow')")
        assert.match(yield* refusal(dataDir, to), /schema of another version/)
        yield* onTo("DELETE FROM effect_sql_migrations WHERE migration_id = 9999")

        // A failed move leaves nothing behind.
        yield* onSource(
          dataDir,
          run(`INSERT INTO billing_events (id, received_at) VALUES ('a', now())`)
        )
        yield* onTo("ALTER TABLE workspaces ADD COLUMN more text NOT NULL")
        yield* onSource(
          dataDir,
          run(
            `INSERT INTO workspaces (id, name, lane, created_at) VALUES (gen_random_uuid(), 'a', 0, now())`
          )
        )
        assert.isNotEmpty(yield* refusal(dataDir, to))
        assert.deepStrictEqual(yield* onTo("SELECT id FROM billing_events"), [])
        yield* onTo("ALTER TABLE workspaces DROP COLUMN more")

        yield* onSource(
          dataDir,
          run(
            `DELETE FROM effect_sql_migrations WHERE migration_id = (SELECT max(migration_id) FROM effect_sql_migrations)`
          )
        )
        assert.match(yield* refusal(dataDir, to), /written by another version/)
      }),
    300_000
  )
})
