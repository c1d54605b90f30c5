import { PgClient } from "@effect/sql-pg"
import { Effect, type Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import * as fs from "node:fs"
import * as path from "node:path"
import { declareAllDead } from "../../engine/index.ts"
import {
  copyPartitions,
  copySequence,
  copyTable,
  countRelations,
  explainSqlError,
  fingerprint,
  inOrder,
  listMigrations,
  listPartitions,
  listSequences,
  listTables,
  migrate,
  migrations,
  openEmbeddedPostgres,
  type Table
} from "../../store/index.ts"

export class CannotMove extends Schema.TaggedError<CannotMove>()("CannotMove", {
  message: Schema.String
}) {}

export interface Moved {
  readonly table: string
  readonly rows: number
}

/**
 * Copies everything from the embedded store, on which no server may run, into an empty PostgreSQL
 * database. The target gets all of it, compared row by row, or nothing. The source is only read.
 */
export const move = Effect.fn("move")(
  function* ({ dataDir, to }: { readonly dataDir: string; readonly to: Redacted.Redacted }) {
    if (!fs.existsSync(path.join(dataDir, "postgres", "PG_VERSION"))) {
      return yield* new CannotMove({ message: `there is no embedded store in ${dataDir}` })
    }
    const stream = yield* openEmbeddedPostgres({ dataDir }).pipe(
      Effect.catchTag("DataDirInUse", ({ message }) =>
        Effect.fail(
          new CannotMove({
            message: `${message}. Stop it first: what it accepts while its data is copied would be lost`
          })
        )
      )
    )
    const from = yield* PgClient.make({
      ...session,
      stream,
      username: "postgres",
      database: "postgres"
    })
    const target = yield* PgClient.make({ ...session, url: to, connectTimeout: "10 seconds" })
    yield* checkSource(from)
    yield* checkServer(target)
    return yield* copyAll(from, target).pipe(target.withTransaction, from.withTransaction, (work) =>
      Effect.tap(work, () => target`ANALYZE`)
    )
  },
  Effect.scoped,
  Effect.catchTag("SqlError", (error: SqlError.SqlError) =>
    Effect.fail(new CannotMove({ message: explainSqlError(error) }))
  ),
  Effect.catchTag("MigrationError", ({ message }) => Effect.fail(new CannotMove({ message }))),
  Effect.provide(Reactivity.layer)
)

// ---------------------------------------------------------------------------

/**
 * Makes both sides write and read values in the same way. A table may take longer than a request
 * may.
 */
const session = {
  applicationName: "scheduling-service move",
  maxConnections: 1,
  startupParameters: {
    timezone: "UTC",
    datestyle: "ISO",
    extra_float_digits: "1",
    statement_timeout: "0",
    idle_in_transaction_session_timeout: "0"
  }
}

const checkSource = Effect.fnUntraced(function* (from: SqlClient.SqlClient) {
  if (!(yield* hasOurSchema(from))) {
    return yield* new CannotMove({
      message:
        "the store was written by another version of the service. Start that of this version on it once, and stop it again"
    })
  }
})

const checkServer = Effect.fnUntraced(function* (target: SqlClient.SqlClient) {
  const [server] = yield* target<{ readonly version: number; readonly encoding: string }>`
    SELECT
      current_setting('server_version_num')::int AS version,
      current_setting('server_encoding') AS encoding`
  if (server === undefined || server.version < 150_000 || server.encoding !== "UTF8") {
    return yield* new CannotMove({
      message: "the target must be PostgreSQL 15 or newer, with a database in UTF8"
    })
  }
})

const hasOurSchema = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const applied = yield* listMigrations(sql)
  return applied.map(({ name }) => name).join() === Object.keys(migrations).join()
})

/** Creates the schema in an empty database, and otherwise checks that it is ours. */
const prepare = Effect.fnUntraced(function* (target: SqlClient.SqlClient) {
  const [found] = yield* countRelations(target)
  if (found === undefined || found.relations === 0) {
    yield* Effect.provideService(migrate, SqlClient.SqlClient, target)
  } else if (!found.has_migrations) {
    return yield* new CannotMove({
      message: "the target is not empty: it has tables of something else. Make a new database"
    })
  } else if (!(yield* hasOurSchema(target))) {
    return yield* new CannotMove({
      message: "the target has the schema of another version of the service. Make a new database"
    })
  }
  const tables = yield* listTables(target)
  for (const { name } of tables) {
    // Nobody writes to it from now on. It has one row from the beginning.
    yield* target`LOCK TABLE ${target(name)} IN ACCESS EXCLUSIVE MODE`
    if (name === progress) continue
    const [row] = yield* target`SELECT FROM ${target(name)} LIMIT 1`
    if (row !== undefined) {
      return yield* new CannotMove({
        message: `the target is not empty: there are rows in ${name}. Make a new database`
      })
    }
  }
  yield* target`DELETE FROM ${target(progress)}`
  return inOrder(tables)
})

const progress = "execution_stats_progress"

const copyAll = Effect.fnUntraced(function* (
  from: SqlClient.SqlClient,
  target: SqlClient.SqlClient
) {
  yield* from`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
  const tables = yield* prepare(target)
  yield* copyPartitions(target, yield* listPartitions(from), yield* listPartitions(target))
  const moved: Array<Moved> = []
  for (const table of tables) {
    moved.push({ table: table.name, rows: yield* copyTable(from, target, table) })
    yield* compare(from, target, table)
  }
  for (const { name } of yield* listSequences(from)) yield* copySequence(from, target, name)
  // The node of the embedded store has a lease without end, so on PostgreSQL nobody would take its
  // runs back.
  yield* declareAllDead(target)
  return moved
})

const compare = Effect.fnUntraced(function* (
  from: SqlClient.SqlClient,
  target: SqlClient.SqlClient,
  { name }: Table
) {
  if ((yield* fingerprint(from, name)) !== (yield* fingerprint(target, name))) {
    return yield* new CannotMove({ message: `the rows of ${name} did not arrive as they were` })
  }
})
