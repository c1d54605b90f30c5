import { PgClient } from "@effect/sql-pg"
import { Effect, type Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import * as fs from "node:fs"
import * as path from "node:path"
import { declareAllNodesDead } from "../../engine/index.ts"
import {
  copyPartitions,
  copySequence,
  copyTable,
  countRelations,
  explainSqlError,
  fingerprint,
  listMigrations,
  listPartitions,
  listSequences,
  listTables,
  migrateDatabase,
  migrations,
  openEmbeddedPostgres,
  sortByReferences,
  type Table
} from "../../store/index.ts"

export class CannotMove extends Schema.TaggedError<CannotMove>()("CannotMove", {
  message: Schema.String
}) {}

/** A table that was copied, and how many rows it has. */
export interface MovedTable {
  readonly table: string
  readonly rows: number
}

/**
 * Copies the embedded store into an empty PostgreSQL database. The store is locked against servers
 * during the copy. The copy is all or nothing, each table is verified by checksum, and the source
 * is never modified.
 */
export const moveStore = Effect.fn("move")(
  function* ({ dataDir, to }: { readonly dataDir: string; readonly to: Redacted.Redacted }) {
    if (!fs.existsSync(path.join(dataDir, "postgres", "PG_VERSION"))) {
      return yield* new CannotMove({ message: `there is no embedded store in ${dataDir}` })
    }
    const stream = yield* openEmbeddedPostgres({ dataDir }).pipe(
      Effect.catchTag("DataDirInUse", ({ message }) =>
        Effect.fail(
          new CannotMove({
            message: `${message}. Stop the server first: changes during the copy would be lost`
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

/**
 * Makes both databases write and read values in the same format. There is no timeout, because
 * copying a table may take a long time.
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
        "the store was written by another version of the service. Start and stop this version of the service on the store once, then try again"
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

/** Creates the schema in an empty database, or checks that an existing schema has this version. */
const prepare = Effect.fnUntraced(function* (target: SqlClient.SqlClient) {
  const [found] = yield* countRelations(target)
  if (found === undefined || found.relations === 0) {
    yield* Effect.provideService(migrateDatabase, SqlClient.SqlClient, target)
  } else if (!found.has_migrations) {
    return yield* new CannotMove({
      message:
        "the target is not empty: it has tables of another program. Create a new database and name it"
    })
  } else if (!(yield* hasOurSchema(target))) {
    return yield* new CannotMove({
      message:
        "the target has the schema of another version of the service. Create a new database and name it"
    })
  }
  const tables = yield* listTables(target)
  for (const { name } of tables) {
    // The lock keeps other sessions from writing to the table.
    yield* target`LOCK TABLE ${target(name)} IN ACCESS EXCLUSIVE MODE`
    // A new schema already has one row in this table, which is replaced below.
    if (name === progress) continue
    const [row] = yield* target`SELECT FROM ${target(name)} LIMIT 1`
    if (row !== undefined) {
      return yield* new CannotMove({
        message: `the target is not empty: the table ${name} has rows. Create a new database and name it`
      })
    }
  }
  yield* target`DELETE FROM ${target(progress)}`
  return sortByReferences(tables)
})

const progress = "execution_stats_progress"

const copyAll = Effect.fnUntraced(function* (
  from: SqlClient.SqlClient,
  target: SqlClient.SqlClient
) {
  yield* from`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
  const tables = yield* prepare(target)
  yield* copyPartitions(target, yield* listPartitions(from), yield* listPartitions(target))
  const moved: Array<MovedTable> = []
  for (const table of tables) {
    moved.push({ table: table.name, rows: yield* copyTable(from, target, table) })
    yield* compare(from, target, table)
  }
  for (const { name } of yield* listSequences(from)) yield* copySequence(from, target, name)
  // The node of the embedded store has a lease without end. Declaring it dead lets the nodes on
  // PostgreSQL recover its runs.
  yield* declareAllNodesDead(target)
  return moved
})

const compare = Effect.fnUntraced(function* (
  from: SqlClient.SqlClient,
  target: SqlClient.SqlClient,
  { name }: Table
) {
  if ((yield* fingerprint(from, name)) !== (yield* fingerprint(target, name))) {
    return yield* new CannotMove({
      message: `the copied rows of the table ${name} differ from the source, so nothing was moved`
    })
  }
})
