import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { version } from "../core/index.ts"
import type { Migrations } from "./migrations/index.ts"
import { countRelations, listMigrations } from "./moving/catalog.ts"

/**
 * Fails if the database has migrations that this version does not know. They come from a newer
 * version, or from a commit before the first release. The statements of this version might damage
 * such a database.
 */
export const rejectUnknownSchema = Effect.fnUntraced(function* (known: Migrations) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* countRelations(sql)
  if (found?.has_migrations !== true) return
  const applied = (yield* listMigrations(sql)).map(({ name }) => name)
  const unknown = applied.filter((name) => !(name in known))
  const [first] = applied
  if (first === undefined || unknown.length === 0) return
  return yield* new Migrator.MigrationError({
    kind: "BadState",
    message: unknown.includes(first)
      ? `the database begins with the migration ${first}. A commit from before the first release ` +
        "created it, and it cannot be upgraded. Start the service with an empty database, or an " +
        "empty DATA_DIR"
      : `the database has migrations that version ${version} of the service does not know: ` +
        `${unknown.join(", ")}. A newer version has used it. Start that version, ` +
        "or restore the backup from before the upgrade"
  })
})
