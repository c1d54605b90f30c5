import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { retryAfterDeadlock, transactionOf } from "../../src/store/transactionOf.ts"
import { registerNode } from "../../src/engine/Nodes.ts"
import { Partitions } from "../../src/engine/Partitions.ts"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { finish } from "../../src/engine/transitions/finish.ts"
import { WorkspacesRepo } from "../../src/accounts/workspaces/WorkspacesRepo.ts"
import { onPostgres, ownDatabaseLayer } from "../support/TestDatabase.ts"
import { RunQueueLayer } from "./runner/support/engine.ts"
import { settlement } from "./runner/support/settlement.ts"
import {
  enqueueAll,
  enqueueMany,
  insertTask,
  insertTasks,
  insertWorkspace
} from "./runner/support/tasks.ts"

const TestLayer = Layer.mergeAll(RunQueueLayer, WorkspacesRepo.layer).pipe(
  Layer.provideMerge(ownDatabaseLayer)
)

/** The embedded store has only one session, so nothing can deadlock. */
describe.skipIf(!onPostgres)("settling", () => {
  layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })((it) => {
    /** Starts all of a workspace's runs on one node. Returns their settlements in random order. */
    const startAll = Effect.fnUntraced(function* (workspace_id: string) {
      const sql = yield* SqlClient.SqlClient
      const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
      const runs = yield* sql<{
        readonly id: string
        readonly kind: "cron" | "delayed" | "chain"
        readonly task_id: string
      }>`
        UPDATE runs
        SET state = 'running', lease_owner = ${node}, started_at = now(), attempt_started_at = now()
        WHERE workspace_id = ${workspace_id}
        RETURNING id, kind, task_id`
      return runs
        .map(({ id, kind, task_id }) =>
          settlement({
            id,
            workspace_id,
            lease_owner: node,
            kind,
            task_id
          })
        )
        .toSorted((a, b) => (a.id.slice(-4) < b.id.slice(-4) ? -1 : 1))
    })

    const settleAll = Effect.fnUntraced(function* (
      settlements: ReadonlyArray<ReturnType<typeof settlement>>
    ) {
      const sql = yield* SqlClient.SqlClient
      for (let from = 0; from < settlements.length; from += 100) {
        yield* finish(sql, settlements.slice(from, from + 100))
      }
    })

    it.effect("never deadlocks with the deletion of the workspace or a pause of the task", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        const workspaces = yield* WorkspacesRepo
        const transaction = transactionOf(sql)
        yield* (yield* Partitions).maintain(30)

        for (let round = 0; round < 6; round++) {
          const deleted = yield* insertWorkspace
          yield* insertTasks(deleted, { kind: "delayed", status: "pending", count: 500 })
          yield* enqueueAll(deleted)
          yield* sql`
            UPDATE runs
            SET kind = 'delayed'
            WHERE workspace_id = ${deleted}`
          const paused = yield* insertWorkspace
          const task = { workspace_id: paused, task_id: yield* insertTask(paused) }
          yield* enqueueMany(task, 500)
          const settling = yield* Effect.forEach(
            [yield* startAll(deleted), yield* startAll(paused)],
            (all) => Effect.forkChild(settleAll(all))
          )
          yield* transaction(
            Effect.andThen(workspaces.remove(deleted), queue.removeWorkspace(deleted))
          )
          yield* queue.stop(task)
          yield* Effect.forEach(settling, Fiber.join)
        }
        const [row] = yield* sql<{ readonly deadlocks: number }>`
          SELECT deadlocks::float8 AS deadlocks
          FROM pg_stat_database
          WHERE datname = current_database()`
        assert.strictEqual(row?.deadlocks, 0)
      })
    )

    it.effect("and other transactions are retried after a deadlock", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [one, other] = [yield* insertWorkspace, yield* insertWorkspace]
        const bothHold = yield* Latch.make()
        const holding = new Set<string>()
        const touch = (id: string) => sql`
          UPDATE workspaces
          SET name = name || '.'
          WHERE id = ${id}`
        const both = (first: string, second: string) =>
          transactionOf(sql)(
            Effect.gen(function* () {
              yield* touch(first)
              holding.add(first)
              if (holding.size === 2) yield* bothHold.open
              yield* bothHold.await
              yield* touch(second)
            }).pipe(Effect.orDie)
          )
        yield* Effect.all([both(one, other), both(other, one)], { concurrency: 2 })
        const names = yield* sql<{ readonly name: string }>`
          SELECT name
          FROM workspaces
          WHERE id IN (${one}, ${other})`
        assert.deepStrictEqual(
          names.map(({ name }) => name),
          ["runner..", "runner.."]
        )
      })
    )
  })
})

describe("after a collision", () => {
  const collision = new SqlError.SqlError({
    reason: new SqlError.DeadlockError({ cause: new Error("deadlock detected") })
  })

  it.effect("work is tried three times, for failures and defects", () =>
    Effect.gen(function* () {
      for (const fail of [Effect.fail(collision), Effect.die(collision)]) {
        let tries = 0
        const work = Effect.suspend(() => {
          tries++
          return fail
        })
        yield* Effect.exit(retryAfterDeadlock(work))
        assert.strictEqual(tries, 3)
      }
    })
  )

  it.effect("nothing else is tried again", () =>
    Effect.gen(function* () {
      let tries = 0
      const work = Effect.suspend(() => {
        tries++
        return Effect.fail("something else")
      })
      yield* Effect.exit(retryAfterDeadlock(work))
      assert.strictEqual(tries, 1)
    })
  )
})
