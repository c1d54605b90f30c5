import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import * as path from "node:path"
import { backUpStore } from "../../../src/operations/operator/Backup.ts"
import { temporaryFolder } from "../../support/ServerProcess.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"

/**
 * Creates a data directory with a store that consists of one file, and with a running process's
 * files.
 */
const dataDir = Effect.map(temporaryFolder("data"), (folder) => {
  fs.mkdirSync(path.join(folder, "postgres"))
  fs.writeFileSync(path.join(folder, "postgres", "PG_VERSION"), "17")
  fs.writeFileSync(path.join(folder, "app-secret"), "a secret", { mode: 0o600 })
  fs.writeFileSync(path.join(folder, "postgres.pid"), "process 1")
  return folder
})

layer(TestDatabaseLayer, { excludeTestServices: true })("a backup", (it) => {
  it.effect.skipIf(onPostgres)("has the store and the secret, and no files of the process", () =>
    Effect.gen(function* () {
      const to = path.join(yield* temporaryFolder("backups"), "of", "today")
      yield* backUpStore(yield* SqlClient.SqlClient, { dataDir: yield* dataDir, to })
      assert.deepStrictEqual(fs.readdirSync(to).toSorted(), ["app-secret", "postgres"])
      assert.strictEqual(fs.readFileSync(path.join(to, "postgres", "PG_VERSION"), "utf8"), "17")
      assert.strictEqual(fs.statSync(path.join(to, "app-secret")).mode & 0o777, 0o600)
    })
  )

  it.effect.skipIf(onPostgres)("leaves nothing behind if it fails", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder("backups")
      const to = path.join(folder, "today")
      fs.mkdirSync(to)
      fs.writeFileSync(path.join(to, "taken"), "")
      const sql = yield* SqlClient.SqlClient
      const exit = yield* Effect.exit(backUpStore(sql, { dataDir: yield* dataDir, to }))
      assert.strictEqual(exit._tag, "Failure")
      assert.deepStrictEqual(fs.readdirSync(folder), ["today"])
    })
  )
})
