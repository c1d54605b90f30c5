import { PgClient, PgConnection } from "@effect/sql-pg"
import { Clock, Effect, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import type { Duplex } from "node:stream"
import { openEmbeddedPostgres } from "../../src/store/embedded/EmbeddedPostgres.ts"
import { type Database, embeddedLayerOn, postgresLayer } from "../../src/store/Sql.ts"
import { inject } from "vitest"
import { asMigrated, emptyAgain, type Migrated, migrateAnew } from "./emptyDatabase.ts"

export const testDatabaseUrl = process.env["TEST_DATABASE_URL"]

export const onPostgres = testDatabaseUrl !== undefined

/** The variable that holds how the names of this run's databases begin. */
export const databasesOfRun = "TEST_DATABASES"

/** A pool on the clock of a test would count every minute that the test jumps over. */
const onRealClock = Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())

/** A new database on the server, which the scope drops. */
export const freshDatabaseUrl = (serverUrl: string) =>
  Effect.gen(function* () {
    const name = `scheduling_test_${randomBytes(8).toString("hex")}`
    yield* Effect.acquireRelease(onServer(serverUrl, `CREATE DATABASE ${name}`), () =>
      onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
    )
    return databaseUrl(serverUrl, name)
  })

const onServer = <Row extends object>(serverUrl: string, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(serverUrl), maxConnections: 1 }), {
      local: true
    }),
    Effect.orDie
  )

/** Drops each database whose name begins so. */
export const dropDatabases = (serverUrl: string, prefix: string) =>
  Effect.gen(function* () {
    const found = yield* onServer<{ readonly datname: string }>(
      serverUrl,
      `SELECT datname FROM pg_database WHERE starts_with(datname, '${prefix}')`
    )
    for (const { datname } of found) {
      yield* onServer(serverUrl, `DROP DATABASE ${datname} WITH (FORCE)`)
    }
  })

const databaseUrl = (serverUrl: string, name: string): string => {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

export const databaseLayer = (url: string, maxConnections = 6): Layer.Layer<Database> =>
  postgresLayer({ url: Redacted.make(url), maxConnections }).pipe(Layer.orDie)

/** Listens on a connection of its own. A listener in the pool would keep one of its few connections. */
export const listenTo = Effect.fnUntraced(function* (channel: string) {
  const { config } = yield* PgClient.PgClient
  const connection = yield* PgConnection.make({ ...config, stream: undefined })
  return yield* (yield* connection.pin).listen(channel)
})

/**
 * One store for all files of a worker, emptied for each, because starting one takes 2 s of CPU
 * time.
 */
let store: Promise<() => Duplex> | undefined

const emptyStore = Effect.gen(function* () {
  store ??= Effect.runPromise(
    openEmbeddedPostgres({ dataDir: undefined, template: inject("migratedStore") }).pipe(
      Scope.provide(Scope.makeUnsafe())
    )
  )
  const opened = store
  const stream = yield* Effect.promise(() => opened)
  yield* emptied({ stream, username: "postgres", database: "postgres" }, asMigrated)
  return stream
})

/**
 * One database for all files of a worker, because to make one and to drop it takes the server half
 * a second. The run drops it at its end.
 */
let made: Promise<unknown> | undefined

const emptyDatabase = (serverUrl: string) =>
  Effect.gen(function* () {
    const name = `${process.env[databasesOfRun]}_${process.pid}`
    made ??= Effect.runPromise(onServer(serverUrl, `CREATE DATABASE ${name}`))
    const making = made
    yield* Effect.promise(() => making)
    const url = databaseUrl(serverUrl, name)
    yield* emptied({ url: Redacted.make(url) }, migrateAnew)
    return url
  })

let migrated: Migrated | undefined

/**
 * Each test file has a clock of its own, so a row that one of them left would be old or of the
 * future to the next.
 */
const emptied = (options: PgClient.PgPoolConfig, begin: typeof migrateAnew) =>
  Effect.gen(function* () {
    const before = migrated
    migrated = undefined
    // Whatever a test has done to its tables, the next begins with new ones.
    migrated = yield* before === undefined
      ? begin
      : Effect.catch(emptyAgain(before), () => migrateAnew)
  }).pipe(Effect.provide(PgClient.layer({ ...options, maxConnections: 1 }), { local: true }))

/**
 * Nothing in any test may fail without a reason. Looked at when a test file ends, as far as its
 * database still answers.
 */
const checkReasons = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const nameless = sql<{ readonly id: string }>`
      SELECT id
      FROM executions
      WHERE status = 'failed'
        AND error IS NULL
      UNION ALL
      SELECT execution_id
      FROM earlier_attempts
      WHERE error IS NULL`.pipe(
      Effect.timeout("10 seconds"),
      Effect.orElseSucceed(() => [])
    )
    yield* Effect.addFinalizer(() =>
      Effect.tap(nameless, ([first]) =>
        first === undefined
          ? Effect.void
          : Effect.die(new Error(`The execution ${first.id} failed, and nothing says why.`))
      )
    )
  })
).pipe(Layer.provide(onRealClock))

/** A database for a test file: in memory, or on the server that `TEST_DATABASE_URL` names. */
export const TestDatabaseLayer: Layer.Layer<Database> = (
  testDatabaseUrl === undefined
    ? embeddedLayerOn(emptyStore)
    : Layer.unwrap(Effect.map(emptyDatabase(testDatabaseUrl), (url) => databaseLayer(url)))
).pipe(Layer.provide(onRealClock), Layer.orDie, (database) =>
  Layer.provideMerge(checkReasons, database)
)

/** A database that no other test file uses, for a test that reads what the server counts of it. */
export const ownDatabaseLayer: Layer.Layer<Database> = Layer.unwrap(
  Effect.map(freshDatabaseUrl(testDatabaseUrl ?? ""), (url) => databaseLayer(url))
).pipe(Layer.provide(onRealClock), Layer.orDie)
