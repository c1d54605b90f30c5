import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import type { Duplex } from "node:stream"
import { AppConfig } from "../Config.ts"
import { migrations } from "../migrations/index.ts"
import { databaseSocket } from "./DatabaseSocket.ts"
import {
  type DataDirInUse,
  type EmbeddedPostgresOptions,
  type EmbeddedStoreError,
  openEmbeddedPostgres
} from "./embedded/EmbeddedPostgres.ts"
import { explainSqlError, isLockTimeout } from "./Errors.ts"

/** Which store holds the data. Both speak SQL through one driver; only listening and nodes differ. */
export class Store extends Context.Service<Store, { readonly kind: "postgres" | "embedded" }>()(
  "@scheduling/server/platform/Store"
) {}

export type Database = SqlClient.SqlClient | PgClient.PgClient | Store

type StoreError = DataDirInUse | EmbeddedStoreError | SqlError.SqlError | Migrator.MigrationError

/** The migrated database that the configuration names. */
export const DatabaseLayer: Layer.Layer<Database, StoreError, AppConfig> = Layer.unwrap(
  Effect.gen(function* () {
    const { databasePool, databaseUrl, dataDir } = yield* AppConfig
    return databaseUrl === undefined
      ? embeddedLayer({ dataDir })
      : postgresLayer({ url: databaseUrl, maxConnections: databasePool })
  })
)

const session = {
  applicationName: "scheduling-service",
  /** Several requests share a connection and go out as one write: 1.5 to 2 times the throughput. */
  multiplex: true,
  transformJson: false
}

const statementTimeoutSeconds = 30

export const postgresLayer = ({
  silenceMs = (statementTimeoutSeconds + 5) * 1000,
  ...options
}: {
  readonly url: Redacted.Redacted
  readonly maxConnections: number
  /** How long a connection may be silent before it counts as lost. */
  readonly silenceMs?: number
}): Layer.Layer<Database, SqlError.SqlError | Migrator.MigrationError> =>
  migrated(
    PgClient.layerFrom(
      PgClient.make({
        ...session,
        ...options,
        stream: () => databaseSocket(Redacted.value(options.url), silenceMs),
        connectTimeout: "5 seconds",
        keepAlive: "30 seconds",
        startupParameters: {
          timezone: "UTC",
          // No statement here runs long enough to earn what compiling it costs, and over many
          // partitions the planner thinks one does: 8 s for the statistics of a month.
          jit: "off",
          // Nor does one ask for the same thing twice, and to look for it is a tenth of a list.
          enable_memoize: "off",
          statement_timeout: `${statementTimeoutSeconds}s`,
          // The rows that a node without network has locked are free before a request at another node
          // gives them up, which it does after 15 s.
          idle_in_transaction_session_timeout: "10s",
          // So nobody's locks last longer than that but those of work that is stuck; the answer is a
          // 503 in time.
          lock_timeout: "12s"
        }
      })
    ),
    "postgres"
  )

export const embeddedLayer = (
  options: EmbeddedPostgresOptions
): Layer.Layer<Database, StoreError> => embeddedLayerOn(openEmbeddedPostgres(options))

/** On a store that is open already: what it gives is a new connection each time. */
export const embeddedLayerOn = <E>(
  store: Effect.Effect<() => Duplex, E, Scope.Scope>
): Layer.Layer<Database, E | SqlError.SqlError | Migrator.MigrationError> =>
  migrated(
    PgClient.layerFrom(
      Effect.flatMap(store, (stream) =>
        PgClient.make({
          ...session,
          stream,
          username: "postgres",
          database: "postgres",
          maxConnections: 1
        })
      )
    ),
    "embedded"
  )

const migrated = <E>(
  client: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, E>,
  kind: Store["Service"]["kind"]
) =>
  Layer.mergeAll(Layer.effectDiscard(migrate), Layer.succeed(Store, { kind })).pipe(
    Layer.provideMerge(client)
  )

const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // A database that is still starting is the usual case in a container: a minute is enough for it.
  yield* sql`SELECT 1`.pipe(
    Effect.tapError((error) =>
      Effect.logWarning(`waiting for the database: ${explainSqlError(error)}`)
    ),
    Effect.retry({ schedule: Schedule.spaced("2 seconds"), times: 30 })
  )
  // Another node may be migrating, or a reader be in the way.
  const applied = yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations) }).pipe(
    Effect.retry({
      times: 25,
      while: (error) =>
        isLockTimeout(error) || (error._tag === "MigrationError" && isLockTimeout(error.cause))
    })
  )
  yield* Effect.forEach(
    applied,
    ([id, name]) => Effect.logInfo(`applied migration ${id}: ${name}`),
    {
      discard: true
    }
  )
})
