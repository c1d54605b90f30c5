import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { databasesOfRun, dropDatabases, testDatabaseUrl } from "./TestDatabase.ts"

/** Drops what the workers of a run made on the server that `TEST_DATABASE_URL` names. */
export default function setup(): (() => Promise<void>) | undefined {
  const server = testDatabaseUrl
  if (server === undefined) return
  const prefix = `scheduling_test_${randomBytes(4).toString("hex")}`
  process.env[databasesOfRun] = prefix
  return () => Effect.runPromise(dropDatabases(server, prefix))
}
