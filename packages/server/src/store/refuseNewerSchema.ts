import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { version } from "../core/index.ts"
import { migrations } from "./migrations/index.ts"
import { countRelations, listMigrations } from "./moving/catalog.ts"

/**
 * Fails if the database has migrations that this program does not know: a newer version made them,
 * and what this one reads and writes may no longer be right.
 */
export const refuseNewerSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* countRelations(sql)
  if (found?.has_migrations !== true) return
  const unknown = (yield* listMigrations(sql)).filter(({ name }) => !(name in migrations))
  if (unknown.length === 0) return
  return yield* new Migrator.MigrationError({
    kind: "BadState",
    message:
      `the database has migrations that version ${version} of the service does not know: ` +
      `${unknown.map(({ name }) => name).join(", ")}. A newer version has used it. Start that version, ` +
      "or restore the backup from before the upgrade"
  })
})
