import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import type { Duplex } from "node:stream"
import { openEmbeddedPostgres } from "../../src/sql/embedded/EmbeddedPostgres.ts"
import { type Database, embeddedLayerOn, postgresLayer } from "../../src/sql/Sql.ts"

export const testDatabaseUrl = process.env["TEST_DATABASE_URL"]

export const onPostgres = testDatabaseUrl !== undefined

/** A pool on the clock of a test would count every minute that the test jumps over. */
const onRealClock = Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())

/**
 * A new database on the server, which the scope drops. Each test file has a clock of its own. In
 * one shared database, the cleanup of a file in July removed what a file in June still needed.
 */
export const freshDatabaseUrl = (serverUrl: string) =>
  Effect.gen(function* () {
    const name = `scheduling_test_${randomBytes(8).toString("hex")}`
    const onServer = (statement: string) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
        Effect.provide(PgClient.layer({ url: Redacted.make(serverUrl), maxConnections: 1 }), {
          local: true
        }),
        Effect.orDie
      )
    yield* Effect.acquireRelease(onServer(`CREATE DATABASE ${name}`), () =>
      onServer(`DROP DATABASE ${name} WITH (FORCE)`)
    )
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    return url.href
  })

export const databaseLayer = (url: string, maxConnections = 6): Layer.Layer<Database> =>
  postgresLayer({ url: Redacted.make(url), maxConnections }).pipe(Layer.orDie)

/**
 * One store for all files of a worker, emptied for each, because starting one takes 2 s of CPU
 * time.
 */
let store: Promise<() => Duplex> | undefined

const emptyStore = Effect.gen(function* () {
  store ??= Effect.runPromise(
    openEmbeddedPostgres({ dataDir: undefined }).pipe(Scope.provide(Scope.makeUnsafe()))
  )
  const opened = store
  const stream = yield* Effect.promise(() => opened)
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`DROP SCHEMA public CASCADE`
    yield* sql`CREATE SCHEMA public`
  }).pipe(
    Effect.provide(
      PgClient.layer({ stream, username: "postgres", database: "postgres", maxConnections: 1 }),
      { local: true }
    )
  )
  return stream
})

/** A database for a test file: in memory, or on the server that `TEST_DATABASE_URL` names. */
export const TestDatabaseLayer: Layer.Layer<Database> = (
  testDatabaseUrl === undefined
    ? embeddedLayerOn(emptyStore)
    : Layer.unwrap(Effect.map(freshDatabaseUrl(testDatabaseUrl), (url) => databaseLayer(url)))
).pipe(Layer.provide(onRealClock), Layer.orDie)
