import { PgClient } from "@effect/sql-pg"
import { Effect, type Layer, Redacted, Schedule } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { embeddedLayer } from "../../../packages/server/src/store/Sql.ts"
import { makePostgresCluster } from "../../../packages/server/test/support/PostgresCluster.ts"

/** Queries the database directly, and waits while it is unavailable. */
export type Ask = <A>(
  question: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>
) => Effect.Effect<A>

export interface Store {
  readonly env: Readonly<Record<string, string>>
  readonly ask: Ask
}

/** Opens a new connection for each query, because a pool notices a lost connection only on use. */
const askThrough =
  <E>(database: Layer.Layer<SqlClient.SqlClient, E>): Ask =>
  (question) =>
    question.pipe(
      Effect.provide(database, { local: true }),
      Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 300 }),
      Effect.orDie
    )

const secret = "a secret for drills, thirty-two bytes and more"

export const storeAt = (url: string): Store => ({
  env: { DATABASE_URL: url, APP_SECRET: secret },
  ask: askThrough(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
})

/** The embedded store. The drill can query it only while no node has it open. */
export const embeddedStore = (dataDir: string): Store => ({
  env: { DATA_DIR: dataDir },
  ask: askThrough(embeddedLayer({ dataDir }))
})

/**
 * The connection limit of the server. Two nodes use 32 connections, and each query of a drill uses
 * one.
 */
const maxConnections = 60

/** Starts a PostgreSQL server for the drill, with the environment `env`. */
export const startPostgresWith = (env: Readonly<Record<string, string>>) =>
  Effect.tap(makePostgresCluster(maxConnections, env), (postgres) =>
    postgres.start.pipe(
      Effect.andThen(postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app"))
    )
  )

export const startPostgres = startPostgresWith({})
