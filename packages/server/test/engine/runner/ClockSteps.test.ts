import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { offsetClock } from "../../support/offsetClock.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { callLayer, nodeLayer } from "./support/engine.ts"
import { eventually } from "./support/tasks.ts"

const hourMs = 3_600_000

// The embedded store has only one node, so no other node needs to be checked.
describe.skipIf(!onPostgres)("a node whose clock was set back", () => {
  const { clock, step } = offsetClock()
  const NodeLayer = nodeLayer(callLayer(() => Effect.succeed({}))).pipe(
    Layer.provideMerge(TestDatabaseLayer),
    Layer.provide(Layer.succeed(Clock.Clock, clock))
  )

  it.live("notices immediately that another node is dead", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const nodesWithSession = sql`
        SELECT objid
        FROM pg_locks
        JOIN pg_database ON pg_database.oid = database
        WHERE locktype = 'advisory'
          AND objsubid = 2
          AND datname = current_database()`
      yield* eventually(nodesWithSession, (nodes) => nodes.length === 1)
      yield* step(-hourMs)
      const [other] = yield* sql<{ readonly id: number }>`
        INSERT INTO nodes (holds_lock, lease_until)
        VALUES (true, now() + interval '1 hour')
        RETURNING id`
      const deaths = sql`
        SELECT died_at
        FROM nodes
        WHERE id = ${other?.id ?? assert.fail("no row")}
          AND died_at IS NOT NULL`
      yield* eventually(deaths, (rows) => rows.length === 1)
    }).pipe(Effect.provide(NodeLayer))
  )
})
