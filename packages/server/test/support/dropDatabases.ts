import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { databasesOfRun, dropDatabases, testDatabaseUrl } from "./TestDatabase.ts"

/**
 * Drops the databases that this test run's workers created on the server named by
 * `TEST_DATABASE_URL`.
 */
export default function setup(): (() => Promise<void>) | undefined {
  const server = testDatabaseUrl
  if (server === undefined) return
  const prefix = `scheduling_test_${randomBytes(4).toString("hex")}`
  process.env[databasesOfRun] = prefix
  return () => Effect.runPromise(dropDatabases(server, prefix))
}
