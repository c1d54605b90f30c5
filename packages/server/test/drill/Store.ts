import { PgClient } from "@effect/sql-pg"
import { Effect, type Layer, Redacted, Schedule } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { embeddedLayer } from "../../src/platform/Sql.ts"
import { makePostgresCluster } from "../support/PostgresCluster.ts"

/** Asks the database itself, and waits for it where it is away. */
export type Ask = <A>(
  question: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>
) => Effect.Effect<A>

export interface Store {
  /** What a node is told of it. */
  readonly env: Readonly<Record<string, string>>
  readonly ask: Ask
}

/** A connection for each question: a pool finds only by using one that it is gone. */
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

/** While no process has it open. */
export const embeddedStore = (dataDir: string): Store => ({
  env: { DATA_DIR: dataDir },
  ask: askThrough(embeddedLayer({ dataDir }))
})

/** Two nodes take 32 connections, and each question of a drill another. */
const maxConnections = 60

/** A server of the drill's own, that runs. */
export const startPostgres = Effect.tap(makePostgresCluster(maxConnections), (postgres) =>
  postgres.start.pipe(
    Effect.andThen(postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app"))
  )
)
