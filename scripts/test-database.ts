/**
 * Creates or drops a test run's database, without requiring `psql`: `node scripts/test-database.ts
 * create|drop <name>`, on the server named by `CI_POSTGRES_URL`. `create` prints the new database's
 * URL.
 */
import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Config, Console, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"

const [action, name = ""] = process.argv.slice(2)

const server = Config.Redacted("CI_POSTGRES_URL")

const run = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Uses FORCE, because a failed test may have left a connection open.
  if (action === "drop") return yield* sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`
  yield* sql`CREATE DATABASE ${sql(name)}`
  const url = new URL(Redacted.value(yield* server))
  url.pathname = name
  yield* Console.log(url.href)
})

run.pipe(Effect.provide(PgClient.layerConfig({ url: server })), NodeRuntime.runMain)
