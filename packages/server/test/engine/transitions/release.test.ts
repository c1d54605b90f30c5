import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { admit } from "../../../src/engine/transitions/admit.ts"
import { finish } from "../../../src/engine/transitions/finish.ts"
import { checkNodes, registerNode } from "../../../src/engine/Nodes.ts"
import { Partitions } from "../../../src/engine/Partitions.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { start } from "../../../src/engine/transitions/start.ts"
import { RunQueueLayer } from "../runner/support/engine.ts"
import { settlement } from "../runner/support/settlement.ts"
import { insertTask, insertWorkspace, readRuns } from "../runner/support/tasks.ts"
import { waitUntilBlocked } from "../../support/collide.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { insertQueue, setQueue } from "../queues/queues.ts"
import { inState } from "./inState.ts"

const TestLayer = RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

layer(TestLayer, { excludeTestServices: true })("a run that waits for earlier ones", (it) => {
  // The embedded store has only one session, in which no statement sees an outdated snapshot.
  it.effect.runIf(onPostgres)("starts once, although two nodes settle the runs before it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* (yield* Partitions).maintain(30)
      const workspace_id = yield* insertWorkspace
      const task = yield* insertTask(workspace_id, { overlap: "queue" })
      const other = yield* insertTask(workspace_id)
      const queue_id = yield* insertQueue(workspace_id, { max_concurrency: 3 })
      yield* setQueue([task], queue_id)
      const node = registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
      const [here, there] = [yield* node, yield* node]
      const now = Date.now()
      let inserted = 0
      const insertRun = Effect.fnUntraced(function* (task_id: string, values: object) {
        // Rows are locked in the order of their ids.
        const id = makeRunId(now + inserted++, now)
        const at = new Date(now)
        yield* sql`
          INSERT INTO runs ${sql.insert({
            id,
            workspace_id,
            task_id,
            kind: "cron",
            trigger: "manual",
            scheduled_for: at,
            due_at: at,
            ...values
          })}`
        return id
      })
      const unrelated = yield* insertRun(other, inState("running", { node: there }))
      const first = yield* insertRun(task, inState("running", { node: here, queue: queue_id }))
      const second = yield* insertRun(task, inState("running", { node: there, queue: queue_id }))
      const next = yield* insertRun(task, inState("blocked", { queue: queue_id }))
      const ended = (id: string, lease_owner: number) =>
        settlement({ id, workspace_id, lease_owner })

      const isLocked = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const somebody = yield* sql`SELECT FROM runs WHERE id = ${unrelated} FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(isLocked, undefined)),
        Effect.andThen(Deferred.await(mayEnd)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(isLocked)
      // One node has started to write results on its own connection, and must wait.
      const writing = yield* finish(sql, [ended(unrelated, there), ended(second, there)]).pipe(
        sql.withTransaction,
        Effect.forkChild
      )
      yield* waitUntilBlocked(1)
      // Meanwhile, the other node finishes the previous run and releases the next one.
      yield* finish(sql, [ended(first, here)])
      const admitted = yield* admit(sql, [queue_id], { node: here, limit: 10, except: [] })
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(somebody)
      yield* Fiber.join(writing)
      assert.deepStrictEqual(
        admitted.leased.map(({ id }) => id),
        [next]
      )
      assert.deepInclude((yield* readRuns(workspace_id))[0], {
        id: next,
        lease_owner: here,
        state: "leased"
      })
      assert.strictEqual((yield* start(sql, here, admitted.leased)).started.length, 1)
      const again = yield* admit(sql, [queue_id], { node: there, limit: 10, except: [] })
      assert.isEmpty(again.leased)
      assert.deepStrictEqual((yield* finish(sql, [ended(next, here)])).ids, [next])
    })
  )

  it.effect("is found without reading the thousands of runs that wait after it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* (yield* Partitions).maintain(30)
      const workspace_id = yield* insertWorkspace
      const task_id = yield* insertTask(workspace_id, { overlap: "queue" })
      const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
      const now = Date.now()
      const [first = "", ...others] = Array.from({ length: 3_000 }, (_, n) =>
        makeRunId(now + n, now)
      )
      yield* sql`
        INSERT INTO runs (workspace_id, id, task_id, kind, trigger, scheduled_for, due_at, state, lease_owner)
        SELECT
          ${workspace_id}, given.id, ${task_id}, 'cron', 'backfill', now(), now(),
          CASE given.id WHEN ${first} THEN 'leased' ELSE 'blocked' END,
          CASE given.id WHEN ${first} THEN ${node}::integer END
        FROM unnest(${[first, ...others]}::uuid[]) AS given (id)`
      yield* sql`ANALYZE runs`

      const readSoFar = Effect.map(
        sql<{ readonly rows: number }>`
          SELECT (seq_tup_read + idx_tup_fetch)::integer AS rows
          FROM pg_stat_xact_user_tables
          WHERE relname = 'runs'`,
        ([row]) => row?.rows ?? 0
      )
      const rowsReadBy = (statement: Effect.Effect<unknown, SqlError.SqlError>) =>
        sql.withTransaction(
          Effect.gen(function* () {
            const before = yield* readSoFar
            yield* statement
            return (yield* readSoFar) - before
          })
        )
      const leased = { id: first, workspace_id, attempt: 1, share: 0, target: null, due_ms: now }
      assert.isBelow(yield* rowsReadBy(start(sql, node, [leased])), 50)
      assert.isBelow(yield* rowsReadBy(checkNodes(sql, { forMs: 60_000, isLong: true })), 50)
      const ended = settlement({ id: first, workspace_id, task_id, lease_owner: node })
      assert.isBelow(yield* rowsReadBy(finish(sql, [ended])), 50)
      const next = (yield* readRuns(workspace_id)).find(({ state }) => state === "ready")
      assert.strictEqual(next?.id, others[0])
    })
  )
})
