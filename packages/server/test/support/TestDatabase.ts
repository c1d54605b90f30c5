import { PgClient, PgConnection } from "@effect/sql-pg"
import { Clock, Effect, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import type { Duplex } from "node:stream"
import { openEmbeddedPostgres } from "../../src/store/embedded/EmbeddedPostgres.ts"
import { type Database, embeddedLayerOn, postgresLayer } from "../../src/store/Sql.ts"
import { inject } from "vitest"
import {
  readMigratedContents,
  migrateWithPartitions,
  type MigratedContents,
  resetDatabase
} from "./emptyDatabase.ts"

export const testDatabaseUrl = process.env["TEST_DATABASE_URL"]

export const onPostgres = testDatabaseUrl !== undefined

/** The environment variable that contains the name prefix of the test run's databases. */
export const databasesOfRun = "TEST_DATABASES"

/** With a test's clock, a pool would count every minute that the test skips. */
const onRealClock = Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())

/**
 * Dies if any test left an execution or attempt that failed without a reason. Skipped if the
 * database does not respond or has no history.
 */
const checkReasons = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [first] = yield* sql<{ readonly id: string }>`
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
  if (first !== undefined) {
    yield* Effect.die(new Error(`The execution ${first.id} failed, and nothing says why.`))
  }
})

/** Creates a database on the server. It is dropped when the scope closes. */
export const freshDatabaseUrl = (serverUrl: string) =>
  Effect.gen(function* () {
    const name = `scheduling_test_${randomBytes(8).toString("hex")}`
    const url = databaseUrl(serverUrl, name)
    yield* Effect.acquireRelease(onServer(serverUrl, `CREATE DATABASE ${name}`), () =>
      checkReasons.pipe(
        Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }), {
          local: true
        }),
        Effect.ensuring(onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)),
        Effect.orDie
      )
    )
    return url
  })

const onServer = <Row extends object>(serverUrl: string, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(serverUrl), maxConnections: 1 }), {
      local: true
    }),
    Effect.orDie
  )

/** Drops all databases whose names have the prefix. */
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

/** Listens on a separate connection, so that no connection of the pool is occupied. */
export const listenTo = Effect.fnUntraced(function* (channel: string) {
  const { config } = yield* PgClient.PgClient
  const connection = yield* PgConnection.make({ ...config, stream: undefined })
  return yield* (yield* connection.pin).listen(channel)
})

/**
 * The store that a worker's test files share. It is emptied for each file, because starting a store
 * takes 2 s of CPU time.
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
  yield* emptyFor({ stream, username: "postgres", database: "postgres" }, readMigratedContents)
  return stream
})

/**
 * The database that a worker's test files share, because creating and dropping a database takes
 * half a second. It is dropped at the end of the test run.
 */
let created: Promise<unknown> | undefined

const emptyDatabase = (serverUrl: string) =>
  Effect.gen(function* () {
    const name = `${process.env[databasesOfRun]}_${process.pid}`
    created ??= Effect.runPromise(onServer(serverUrl, `CREATE DATABASE ${name}`))
    const creating = created
    yield* Effect.promise(() => creating)
    const url = databaseUrl(serverUrl, name)
    yield* emptyFor({ url: Redacted.make(url) }, migrateWithPartitions)
    return url
  })

let migrated: MigratedContents | undefined

/**
 * Empties the database for a test file. Each file has its own clock, so an earlier file's rows
 * could be in the future.
 */
const emptyFor = (options: PgClient.PgPoolConfig, begin: typeof migrateWithPartitions) =>
  Effect.gen(function* () {
    const before = migrated
    migrated = undefined
    // If the previous reset failed, all tables are created again.
    migrated = yield* before === undefined
      ? begin
      : Effect.catch(resetDatabase(before), () => migrateWithPartitions)
  }).pipe(Effect.provide(PgClient.layer({ ...options, maxConnections: 1 }), { local: true }))

/** Runs the check at the end of each test file. */
const checkReasonsAtEnd = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Effect.addFinalizer(() => Effect.provideService(checkReasons, SqlClient.SqlClient, sql))
  })
).pipe(Layer.provide(onRealClock))

/** A test file's database: in memory, or on the server that `TEST_DATABASE_URL` names. */
export const TestDatabaseLayer: Layer.Layer<Database> = (
  testDatabaseUrl === undefined
    ? embeddedLayerOn(emptyStore)
    : Layer.unwrap(Effect.map(emptyDatabase(testDatabaseUrl), (url) => databaseLayer(url)))
).pipe(Layer.provide(onRealClock), Layer.orDie, (database) =>
  Layer.provideMerge(checkReasonsAtEnd, database)
)

/** A database that no other test file uses, for tests that read the server's statistics. */
export const ownDatabaseLayer: Layer.Layer<Database> = Layer.unwrap(
  Effect.map(freshDatabaseUrl(testDatabaseUrl ?? ""), (url) => databaseLayer(url))
).pipe(Layer.provide(onRealClock), Layer.orDie)
