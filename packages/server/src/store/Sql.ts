import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import type { Duplex } from "node:stream"
import { AppConfig } from "../core/index.ts"
import { type Migrations, migrations } from "./migrations/index.ts"
import { databaseSocket } from "./pool/databaseSocket.ts"
import { PoolUse } from "./pool/PoolUse.ts"
import { withTransactionPermits } from "./pool/withTransactionPermits.ts"
import {
  type DataDirInUse,
  type EmbeddedPostgresOptions,
  type EmbeddedStoreError,
  openEmbeddedPostgres
} from "./embedded/EmbeddedPostgres.ts"
import { explainSqlError, isTemporaryFailure } from "./sqlErrors.ts"
import { rejectUnknownSchema } from "./rejectUnknownSchema.ts"

/** The kind of store. The two kinds differ only in LISTEN and in the number of nodes. */
export class Store extends Context.Service<
  Store,
  { readonly kind: "postgres" | "embedded"; readonly pool: PoolUse }
>()("@scheduling/server/store/Store") {}

export type Database = SqlClient.SqlClient | PgClient.PgClient | Store

type StoreError = DataDirInUse | EmbeddedStoreError | SqlError.SqlError | Migrator.MigrationError

/** The configured database, migrated to the schema of this version. */
export const DatabaseLayer: Layer.Layer<Database, StoreError, AppConfig> = Layer.unwrap(
  Effect.gen(function* () {
    const { databasePool, databaseUrl, dataDir } = yield* AppConfig
    return databaseUrl === undefined
      ? embeddedLayer({ dataDir })
      : postgresLayer({ url: databaseUrl, maxConnections: databasePool })
  })
)

const session = { applicationName: "scheduling-service", transformJson: false }

/**
 * Lets several requests share a connection and send their statements in one write, which gives 1.5
 * to 2 times the throughput.
 */
const multiplexed = { multiplex: true }

const statementTimeoutSeconds = 30

const server = {
  connectTimeout: "5 seconds",
  keepAlive: "30 seconds",
  startupParameters: {
    timezone: "UTC",
    // No statement runs long enough for compilation to pay off. With many partitions the planner
    // would compile anyway, and then the statistics of a month took 8 s.
    jit: "off",
    // No statement looks up the same key twice, and planning for `memoize` would take a tenth of
    // the time of a list.
    enable_memoize: "off",
    statement_timeout: `${statementTimeoutSeconds}s`,
    // If a node loses its network, its row locks are released before a request at another node
    // gives up, which is after 15 s.
    idle_in_transaction_session_timeout: "10s",
    // A lock that is held for longer belongs to stuck work. With this timeout, a request that waits
    // for the lock gets a 503 in time.
    lock_timeout: "12s"
  }
} as const

export const postgresLayer = ({
  maxConnections,
  silenceMs = (statementTimeoutSeconds + 5) * 1000,
  url
}: {
  readonly url: Redacted.Redacted
  /** Maximum number of connections for requests, at least two. */
  readonly maxConnections: number
  /** How long a connection may be silent before it counts as lost. */
  readonly silenceMs?: number
}): Layer.Layer<Database, SqlError.SqlError | Migrator.MigrationError> => {
  // Individual statements need few connections, because they share them.
  const forStatements = Math.max(1, Math.floor(maxConnections / 4))
  const forTransactions = Math.max(1, maxConnections - forStatements)
  return migrated("postgres", new PoolUse(maxConnections, forTransactions), (use) => {
    const poolOf = (options: { readonly maxConnections: number; readonly multiplex: boolean }) =>
      PgClient.make({
        ...session,
        ...server,
        ...options,
        url,
        stream: () => use.countConnection(databaseSocket(Redacted.value(url), silenceMs))
      })
    return PgClient.layerFrom(
      Effect.gen(function* () {
        const statements = yield* poolOf({ ...multiplexed, maxConnections: forStatements })
        const transactions = yield* poolOf({ multiplex: false, maxConnections: forTransactions })
        return withTransactionPermits(statements, use, transactions)
      })
    )
  })
}

export const embeddedLayer = (
  options: EmbeddedPostgresOptions
): Layer.Layer<Database, StoreError> => embeddedLayerOn(openEmbeddedPostgres(options))

/**
 * The maximum number of statements that the driver sends before the first response. With the
 * driver's default of 32, a statement of a busy node waits one iteration of the event loop for
 * every 32 statements before it.
 */
const statementsInPipeline = 128

/** Uses a store that is already open. Each call of the function opens a new connection. */
export const embeddedLayerOn = <E>(
  store: Effect.Effect<() => Duplex, E, Scope.Scope>
): Layer.Layer<Database, E | SqlError.SqlError | Migrator.MigrationError> =>
  migrated("embedded", new PoolUse(1, 1), (pool) =>
    PgClient.layerFrom(
      Effect.flatMap(store, (stream) =>
        PgClient.make({
          ...session,
          ...multiplexed,
          stream: () => pool.countConnection(stream()),
          username: "postgres",
          database: "postgres",
          maxConnections: 1,
          multiplexConcurrency: statementsInPipeline
        })
      ).pipe(Effect.map((sql) => withTransactionPermits(sql, pool)))
    )
  )

const migrated = <E>(
  kind: Store["Service"]["kind"],
  pool: PoolUse,
  client: (pool: PoolUse) => Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, E>
) =>
  Layer.mergeAll(Layer.effectDiscard(migrateDatabase), Layer.succeed(Store, { kind, pool })).pipe(
    Layer.provideMerge(client(pool))
  )

/** Applies the migrations that the database does not have yet. */
export const migrateWith = Effect.fnUntraced(function* (known: Migrations) {
  const sql = yield* SqlClient.SqlClient
  // In containers, the database often starts at the same time as the service, so the connection is
  // retried for a minute.
  yield* sql`SELECT 1`.pipe(
    Effect.tapError((error) =>
      Effect.logWarning(`waiting for the database: ${explainSqlError(error)}`)
    ),
    Effect.retry({ schedule: Schedule.spaced("2 seconds"), times: 30 })
  )
  yield* rejectUnknownSchema(known)
  // The migration is retried: another node may be migrating, a reading statement may hold a lock,
  // or the connection was lost and the migration rolled back.
  const applied = yield* Migrator.make({})({ loader: Migrator.fromRecord(known) }).pipe(
    Effect.retry({
      schedule: Schedule.spaced("1 second"),
      times: 25,
      while: (error) => isTemporaryFailure(error._tag === "MigrationError" ? error.cause : error)
    }),
    Effect.catchTag("MigrationError", (error) => Effect.fail(withReason(error)))
  )
  yield* Effect.forEach(
    applied,
    ([id, name]) => Effect.logInfo(`applied migration ${id}: ${name}`),
    {
      discard: true
    }
  )
})

/** Adds the cause to a message that only names the migration. */
const withReason = (error: Migrator.MigrationError): Migrator.MigrationError =>
  SqlError.isSqlError(error.cause)
    ? new Migrator.MigrationError({
        ...error,
        message: `${error.message}: ${explainSqlError(error.cause)}`
      })
    : error

export const migrateDatabase = Effect.suspend(() => migrateWith(migrations))
