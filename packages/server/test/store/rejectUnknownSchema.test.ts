import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrateDatabase } from "../../src/store/Sql.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

layer(TestDatabaseLayer, { excludeTestServices: true })(
  "a schema that this version does not know",
  (it) => {
    it.effect("is rejected by name if a newer version created it, and stays unchanged", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrateDatabase
        yield* sql`
        INSERT INTO effect_sql_migrations (migration_id, name)
        VALUES (9998, 'of_next_week'), (9999, 'of_tomorrow')`
        const error = yield* Effect.flip(migrateDatabase)
        assert.strictEqual(error._tag, "MigrationError")
        assert.match(
          error.message,
          /^the database has migrations that version \S+ of the service does not know: 9998_of_next_week, 9999_of_tomorrow\. /
        )
        yield* sql`
        DELETE FROM effect_sql_migrations
        WHERE migration_id > 9000`
        yield* migrateDatabase
      })
    )

    it.effect("is rejected if a commit from before the first release created it", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
        UPDATE effect_sql_migrations
        SET name = 'accounts'
        WHERE migration_id = 1`
        yield* sql`
        INSERT INTO effect_sql_migrations (migration_id, name)
        VALUES (2, 'runs')`
        const error = yield* Effect.flip(migrateDatabase)
        assert.strictEqual(
          error.message,
          "the database begins with the migration 0001_accounts. A commit from before the first " +
            "release created it, and it cannot be upgraded. Start the service with an empty " +
            "database, or an empty DATA_DIR"
        )
      })
    )
  }
)
