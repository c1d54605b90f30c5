import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { parkStopped } from "../../../src/engine/transitions/parkStopped.ts"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { enqueueOverdue, insertQueue, setQueue } from "../queues/queues.ts"
import { nodeLayer, RunQueueLayer } from "./support/engine.ts"
import { failingWith, makeFakeCalls, urlOf } from "./support/fakeCalls.ts"
import {
  enqueueMany,
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace,
  callStep,
  readRuns
} from "./support/tasks.ts"

const calls = makeFakeCalls()

const startNode = Effect.flatMap(Effect.scope, (scope) =>
  Layer.buildWithScope(nodeLayer(calls.layer), scope)
)

/** Starts two nodes that the test can stop. */
const startNodes = Effect.gen(function* () {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const nodes = Effect.all([startNode, startNode])
  yield* Effect.provideService(nodes, Scope.Scope, scope)
  return scope
})

const stop = (id: AuthorizedWorkspaceId) =>
  Effect.flatMap(RunQueue, (queue) => queue.stopWorkspace(id))

const resume = (id: AuthorizedWorkspaceId) =>
  Effect.flatMap(RunQueue, (queue) => queue.resumeWorkspace(id))

/** Waits one second, during which a run would have started if that were allowed. */
const aSecond = Effect.sleep(1_000)

const statesOf = (workspace: AuthorizedWorkspaceId) =>
  Effect.map(readRuns(workspace), (runs) => runs.map(({ state }) => state))

const Nodes = Layer.effectContext(Effect.as(startNodes, Context.empty()))

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), { excludeTestServices: true })(
  "a stopped workspace on nodes that restart",
  (it) => {
    it.effect(
      "starts nothing within a second on any node, also after a restart, until resumed",
      () =>
        Effect.gen(function* () {
          const nodes = yield* startNodes
          const workspace = yield* insertWorkspace
          const path = `/${workspace}`
          const task = yield* insertTask(workspace, { url: urlOf(path) })
          const slow = yield* insertTask(workspace, { url: urlOf(`${path}/slow`) })
          const answered = yield* Deferred.make<void>()
          calls.answers.set(`${path}/slow`, () => Effect.as(Deferred.await(answered), {}))
          yield* enqueueMany({ workspace_id: workspace, task_id: slow }, 1)
          // A run becomes due every 20 ms. The nodes already hold the runs for the next two
          // seconds.
          for (let nr = 0; nr < 200; nr++) {
            yield* enqueueMany({ workspace_id: workspace, task_id: task }, 1, nr * 20)
          }
          const made = Effect.sync(() => calls.to(path).length)
          yield* eventually(made, (count) => count >= 20)
          assert.lengthOf(calls.to(`${path}/slow`), 1)

          assert.isTrue(yield* stop(workspace))
          assert.isFalse(yield* stop(workspace))
          yield* aSecond
          const before = yield* made
          assert.isBelow(before, 200)
          yield* Deferred.succeed(answered, undefined)
          yield* eventually(readExecutions(workspace), (rows) =>
            rows.some((row) => row.task_id === slow)
          )
          yield* Scope.close(nodes, yield* Effect.exit(Effect.void))
          yield* startNodes
          yield* Effect.sleep(3_000)
          assert.strictEqual(yield* made, before)
          assert.isTrue((yield* statesOf(workspace)).every((state) => state === "parked"))

          assert.isTrue(yield* resume(workspace))
          assert.isFalse(yield* resume(workspace))
          const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 201)
          assert.isTrue(rows.every(({ status }) => status === "succeeded"))
          assert.strictEqual(yield* made, 200)
        })
    )
  }
)

layer(Nodes.pipe(Layer.provideMerge(RunQueueLayer), Layer.provideMerge(TestDatabaseLayer)), {
  excludeTestServices: true
})("a stopped workspace", (it) => {
  it.effect("fires no slot, and makes up for missed slots once, if the task does", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      yield* stop(workspace)
      const fields = { fires_in: 500, schedule: "*/5 * * * * *" } as const
      const once = yield* insertTask(workspace, fields)
      const skip = yield* insertTask(workspace, { ...fields, missed: "skip" })
      yield* sql`
        UPDATE tasks
        SET firing_options = '{"precision": "second"}'
        WHERE workspace_id = ${workspace}`
      const reasons = Effect.map(readExecutions(workspace), (rows) =>
        rows.map(({ error, status, task_id }) => ({ error, status, task_id }))
      )
      const rows = yield* eventually(
        reasons,
        (all) => new Set(all.map(({ task_id }) => task_id)).size === 2,
        700
      )
      for (const { error, status } of rows) {
        assert.strictEqual(status, "skipped")
        assert.strictEqual(error, "workspace_stopped: the workspace was stopped")
      }
      const waiting = yield* eventually(readRuns(workspace), ([run]) => run?.state === "parked")
      assert.deepStrictEqual(
        waiting.map(({ task_id }) => task_id),
        [once]
      )
      yield* sql`UPDATE tasks SET next_fire_at = NULL WHERE workspace_id = ${workspace}`
      yield* resume(workspace)
      const ran = yield* eventually(readExecutions(workspace), (all) =>
        all.some(({ status }) => status === "succeeded")
      )
      assert.deepStrictEqual(
        ran.filter(({ status }) => status === "succeeded").map(({ task_id }) => task_id),
        [once]
      )
      assert.isTrue(ran.some(({ task_id }) => task_id === skip))
    })
  )

  it.effect("keeps the runs of its queues waiting, and further attempts and steps", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const path = `/${workspace}`
      const queueId = yield* insertQueue(workspace, { max_concurrency: 1 })
      const gate = yield* Deferred.make<void>()
      const held = (path: string, result: Parameters<typeof failingWith>[0] | 200) =>
        calls.answers.set(path, (request) =>
          Effect.andThen(
            Deferred.await(gate),
            result === 200 || calls.to(path).length > 1
              ? Effect.succeed({})
              : failingWith(result)(request)
          )
        )
      held(`${path}/queued`, 200)
      held(`${path}/again`, 503)
      held(`${path}/one`, 200)
      const queued = yield* insertTask(workspace, { url: urlOf(`${path}/queued`) })
      yield* setQueue([queued], queueId)
      yield* enqueueOverdue(queued, 3)
      const again = yield* insertTask(workspace, { url: urlOf(`${path}/again`), retry_count: 1 })
      yield* enqueueMany({ workspace_id: workspace, task_id: again }, 1)
      const chain = yield* insertTask(workspace, {
        kind: "chain",
        steps: ["one", "two"].map((name) => callStep(name, { url: urlOf(`${path}/${name}`) }))
      })
      yield* (yield* RunQueue).enqueue({ workspace_id: workspace, task_id: chain, kind: "chain" })
      const began = (name: string) => calls.to(`${path}/${name}`).length
      yield* eventually(
        Effect.sync(() => ["queued", "again", "one"].map(began)),
        (counts) => counts.every((count) => count === 1)
      )
      yield* stop(workspace)
      yield* Deferred.succeed(gate, undefined)
      // The queue's first run and the chain's first step have finished.
      yield* eventually(readExecutions(workspace), ({ length }) => length === 2)
      yield* aSecond
      yield* eventually(statesOf(workspace), (states) =>
        states.every((state) => state === "parked")
      )
      assert.deepStrictEqual(["queued", "again", "one", "two"].map(began), [1, 1, 1, 0])
      yield* resume(workspace)
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 6)
      assert.isTrue(rows.every(({ status }) => status === "succeeded"))
      assert.deepStrictEqual(["queued", "again", "one", "two"].map(began), [3, 2, 1, 1])
    })
  )

  it.effect("does not hold up others with its backlog", () =>
    Effect.gen(function* () {
      const stopped = yield* insertWorkspace
      yield* stop(stopped)
      const task_id = yield* insertTask(stopped, { url: urlOf("/backlog") })
      yield* enqueueMany({ workspace_id: stopped, task_id }, 10_000, -60_000)
      const other = yield* insertWorkspace
      const fine = yield* insertTask(other, { url: urlOf("/other") })
      yield* (yield* RunQueue).enqueue({ workspace_id: other, task_id: fine, kind: "cron" })
      yield* eventually(readExecutions(other), ({ length }) => length === 1, 150)
      yield* eventually(
        statesOf(stopped),
        (states) => states.length === 10_000 && states.every((state) => state === "parked")
      )
      assert.lengthOf(calls.to("/backlog"), 0)
      yield* resume(stopped)
      yield* eventually(statesOf(stopped), ({ length }) => length === 0, 1_500)
      assert.lengthOf(calls.to("/backlog"), 10_000)
    })
  )

  it.effect("does not keep others stopped, however many are stopped with waiting runs", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        WITH inserted AS (
          INSERT INTO workspaces (id, name, lane, created_at)
          SELECT ('00000000' || right(gen_random_uuid()::text, -8))::uuid, 'stopped', 0, now()
          FROM generate_series(1, 600)
          RETURNING id
        ), stopped AS (
          INSERT INTO stopped_workspaces (workspace_id, stopped_at)
          SELECT id, now()
          FROM inserted
        )
        INSERT INTO runs (workspace_id, id, task_id, scheduled_for, due_at, kind, trigger, state)
        SELECT id, gen_random_uuid(), gen_random_uuid(), now(), now(), 'cron', 'manual', 'parked'
        FROM inserted`
      const workspace = yield* insertWorkspace
      yield* stop(workspace)
      const task_id = yield* insertTask(workspace, { url: urlOf("/resumed") })
      yield* enqueueMany({ workspace_id: workspace, task_id }, 1)
      yield* eventually(statesOf(workspace), (states) => states[0] === "parked")
      yield* resume(workspace)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 1)
    })
  )

  it.effect("fails no run because no worker claims it, and its runs can be cancelled", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      const workspace = yield* insertWorkspace
      const task = yield* insertTask(workspace)
      yield* sql`
        UPDATE tasks
        SET run_on = '{"labels": ["moon"]}', worker_wait_seconds = 1
        WHERE id = ${task}`
      yield* stop(workspace)
      const { id } = yield* queue.enqueue({ workspace_id: workspace, task_id: task, kind: "cron" })
      yield* parkStopped(sql)
      yield* Effect.sleep(2_500)
      assert.deepStrictEqual(yield* statesOf(workspace), ["parked"])
      assert.strictEqual(yield* queue.cancel(workspace, id), "cancelled")
      const [row] = yield* readExecutions(workspace)
      assert.strictEqual(row?.status, "cancelled")
    })
  )
})
