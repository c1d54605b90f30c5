// @tags processes long
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { openEmbeddedPostgres } from "../../src/store/embedded/EmbeddedPostgres.ts"
import {
  cleanShutdownState,
  controlState,
  eventually,
  kill,
  waitForLines,
  startWriter,
  storeLayer,
  temporaryDirectory
} from "./support/embedded.ts"

const parent = fs.mkdtempSync(path.join(os.tmpdir(), "embedded-"))
/**
 * All tests share this directory, because starting the store for the first time takes 2 s. Each
 * test closes the store.
 */
const dataDir = path.join(parent, "data")

const listed = () => (fs.existsSync(dataDir) ? fs.readdirSync(dataDir).toSorted() : [])

/** Lists the files and folders that other users could read, write or enter. */
const openToOthers = (directory: string): ReadonlyArray<string> =>
  [".", ...fs.readdirSync(directory, { recursive: true, encoding: "utf8" })].filter(
    (name) => (fs.statSync(path.join(directory, name)).mode & 0o077) !== 0
  )

/**
 * Starts the store after an earlier attempt was killed with `kill -9` while its initdb process
 * continued to run.
 */
const firstStart = Effect.gen(function* () {
  const child = yield* startWriter(dataDir)
  const begun = () => listed().some((name) => name.startsWith("postgres.new-"))
  yield* eventually(Effect.sync(begun))
  yield* kill(child)
  assert.notInclude(listed(), "postgres")
  fs.mkdirSync(path.join(dataDir, "postgres.new-older", "base"), { recursive: true })
  fs.writeFileSync(path.join(dataDir, "postgres.new-older", "base", "1"), "")
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE kept AS SELECT 42 AS n`
  }).pipe(Effect.provide(storeLayer({ dataDir })))
})

beforeAll(() => Effect.runPromise(Effect.scoped(firstStart)))
afterAll(() => fs.rmSync(parent, { recursive: true, force: true }))

const lastCheckpoint = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ at: string; pending: number }>`
    SELECT checkpoint_lsn::text AS at,
           (pg_current_wal_insert_lsn() - redo_lsn)::int AS pending
    FROM pg_control_checkpoint()`
  return rows[0] ?? assert.fail("no checkpoint")
})

describe("a data directory", { timeout: 180_000 }, () => {
  it("is private and complete after a first start, even if an earlier start was killed", () => {
    assert.deepStrictEqual(listed(), ["postgres", "postgres.lock"])
    assert.deepStrictEqual(openToOthers(dataDir), [])
    assert.strictEqual(controlState(dataDir), cleanShutdownState)
  })

  it.effect("becomes private at a start if it was not, and new files are private too", () =>
    Effect.gen(function* () {
      const postgres = path.join(dataDir, "postgres")
      fs.chmodSync(path.join(postgres, "PG_VERSION"), 0o666)
      fs.chmodSync(path.join(postgres, "base"), 0o755)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE made AS SELECT 1 AS n`
        yield* sql`DROP TABLE made`
      }).pipe(Effect.provide(storeLayer({ dataDir })))
      assert.deepStrictEqual(openToOthers(dataDir), [])
    })
  )

  it.live("that cannot be opened gives the reason", () =>
    Effect.gen(function* () {
      const broken = yield* temporaryDirectory
      const postgres = path.join(broken, "postgres")
      fs.mkdirSync(postgres)
      fs.writeFileSync(path.join(postgres, "PG_VERSION"), "18\n")
      const error = yield* Effect.flip(Effect.scoped(openEmbeddedPostgres({ dataDir: broken })))
      assert.strictEqual(error._tag, "EmbeddedStoreError")
      assert.include(error.message, broken)
      assert.include(error.message, "could not access the server configuration file")
    })
  )

  it.live("loses no acknowledged row to repeated kill -9, and can be reopened immediately", () =>
    Effect.gen(function* () {
      const acknowledged = new Set<string>()
      for (const rows of [400, 20]) {
        const child = yield* startWriter(dataDir)
        const lines = yield* waitForLines(child, 1 + rows)
        const error = yield* Effect.flip(Effect.scoped(openEmbeddedPostgres({ dataDir })))
        assert.strictEqual(error._tag, "DataDirInUse")
        assert.strictEqual(
          error.message,
          `The data directory ${dataDir} is in use by process ${child.pid} on ${os.hostname()}`
        )
        yield* kill(child)
        for (const id of lines().slice(1)) acknowledged.add(id)
        assert.notStrictEqual(controlState(dataDir), cleanShutdownState)
        const found = yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          assert.deepStrictEqual(yield* sql`SELECT n FROM kept`, [{ n: 42 }])
          return yield* sql<{ id: string }>`SELECT id::text FROM written`
        }).pipe(Effect.provide(storeLayer({ dataDir })))
        const ids = new Set(found.map((row) => row.id))
        const lost = [...acknowledged].filter((id) => !ids.has(id))
        assert.deepStrictEqual(lost, [])
        assert.strictEqual(controlState(dataDir), cleanShutdownState)
      }
      assert.isAtLeast(acknowledged.size, 420)
    })
  )

  it.live("is checkpointed after many writes, but not within a transaction", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE filled (filler text)`
      const before = yield* lastCheckpoint
      const fill = sql`INSERT INTO filled SELECT repeat('x', 1000) FROM generate_series(1, 500)`
      const within = yield* sql.withTransaction(Effect.andThen(fill, lastCheckpoint))
      assert.strictEqual(within.at, before.at)
      const after = yield* lastCheckpoint
      assert.notStrictEqual(after.at, before.at)
      assert.isBelow(after.pending, 100_000)
    }).pipe(Effect.provide(storeLayer({ dataDir, checkpointAfterBytes: 100_000 })))
  )

  it.live("cannot be opened twice in a process, and is vacuumed and checkpointed while idle", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const second = yield* Effect.flip(Effect.scoped(openEmbeddedPostgres({ dataDir })))
      assert.include(second.message, `process ${process.pid}`)
      yield* sql`CREATE TABLE busy AS SELECT generate_series(1, 1000) AS n`
      yield* sql`DELETE FROM busy WHERE n <= 400`
      const vacuumed = sql<{ done: boolean }>`
        SELECT c.reltuples = 600 AND s.last_vacuum IS NOT NULL AND s.last_analyze IS NOT NULL
          AS done
        FROM pg_class c
        JOIN pg_stat_user_tables s ON s.relid = c.oid
        WHERE c.relname = 'busy'`
      yield* eventually(Effect.map(vacuumed, (rows) => rows[0]?.done === true))
      yield* eventually(Effect.map(lastCheckpoint, ({ pending }) => pending < 1000))
    }).pipe(Effect.provide(storeLayer({ dataDir, maintainEvery: "20 millis" })))
  )
})
