import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { callLayer, nodeLayer } from "./support/engine.ts"
import { eventually } from "./support/tasks.ts"

const NodeLayer = nodeLayer(callLayer(() => Effect.succeed({}))).pipe(
  Layer.provideMerge(TestDatabaseLayer)
)

// The embedded store has one connection.
describe.skipIf(!onPostgres)("a node's connections", () => {
  it.live("are four for runs, and one that holds its lock and listens", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const connections = sql<{ readonly name: string; readonly count: number }>`
        SELECT application_name AS name, count(*)::int
        FROM pg_stat_activity
        WHERE datname = current_database()
          AND application_name LIKE 'scheduling-service %'
        GROUP BY application_name`
      const beats = sql<{ readonly at: Date }>`
        SELECT lease_until AS at
        FROM nodes`
      const [first] = yield* eventually(beats, (nodes) => nodes.length === 1)
      yield* eventually(beats, ([node]) => (node?.at ?? 0) > (first?.at ?? 0))
      const named = new Map((yield* connections).map(({ count, name }) => [name, count]))
      assert.strictEqual(named.get("scheduling-service node"), 1)
      assert.isAtMost(named.get("scheduling-service runner") ?? 0, 4)
    }).pipe(Effect.provide(NodeLayer))
  )
})
