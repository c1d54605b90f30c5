import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { nodeLockKey } from "../../../src/engine/Nodes.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { callLayer, nodeLayer } from "./support/engine.ts"
import { eventually } from "./support/tasks.ts"

const node = nodeLayer(callLayer(() => Effect.succeed({})))

/** Lists the sessions that hold a node's lock or wait for it. */
const sessions = (id: number, granted: boolean) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly pid: number }>`
      SELECT pid
      FROM pg_locks
      WHERE locktype = 'advisory'
        AND classid = ${nodeLockKey}
        AND objid = ${id}
        AND granted = ${granted}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  )

const holders = (id: number) => sessions(id, true)

const waiting = (id: number) => sessions(id, false)

describe.runIf(onPostgres)("a node", () => {
  it.live("takes its lock as soon as the server releases its previous session", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Layer.build(node)
      const nodes = sql<{ readonly id: number; readonly died_at: Date | null }>`
        SELECT id, died_at
        FROM nodes
        ORDER BY id`
      const [{ id } = { id: 0 }] = yield* eventually(nodes, ({ length }) => length === 1)
      const [session] = yield* eventually(holders(id), ({ length }) => length === 1)
      yield* Layer.build(node)
      yield* eventually(nodes, ({ length }) => length === 2)

      // This session simulates a lost session that the server still considers alive.
      const mayEnd = yield* Deferred.make<void>()
      const gone = yield* sql`SELECT pg_advisory_xact_lock(${nodeLockKey}, ${id})`.pipe(
        Effect.andThen(Deferred.await(mayEnd)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* eventually(waiting(id), ({ length }) => length === 1)
      yield* sql`SELECT pg_terminate_backend(${session?.pid ?? 0})`
      const [other] = yield* eventually(holders(id), ([one]) => one?.pid !== session?.pid)
      const isBack = sql`
        SELECT
        FROM pg_stat_activity
        WHERE application_name = 'scheduling-service node'
          AND datname = current_database()`
      yield* eventually(isBack, ({ length }) => length === 2)
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(gone)

      const [holder] = yield* eventually(
        holders(id),
        ([one]) => one !== undefined && one.pid !== other?.pid
      )
      assert.notStrictEqual(holder?.pid, session?.pid)
      assert.isNull((yield* nodes).find((one) => one.id === id)?.died_at)
    }).pipe(Effect.scoped, Effect.provide(TestDatabaseLayer))
  )
})
