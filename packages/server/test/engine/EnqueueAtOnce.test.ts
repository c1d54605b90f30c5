import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { maxUnfinishedRunsPerTask } from "../../src/core/config/plans.ts"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { RunQueueLayer } from "./runner/support/engine.ts"
import { enqueueMany, insertTask, insertWorkspace, readRuns } from "./runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const TestLayer = RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

const setUp = Effect.gen(function* () {
  const queue = yield* RunQueue
  const workspace_id = yield* insertWorkspace
  const task = { workspace_id, task_id: yield* insertTask(workspace_id), kind: "cron" as const }
  // The first count determines how many runs can be added before the runs are counted again.
  yield* queue.enqueue(task)
  return { queue, task, workspace_id }
})

layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })(
  "a run that is added with one statement",
  (it) => {
    it.effect("is like a run that is added with the task locked", () =>
      Effect.gen(function* () {
        const { queue, task, workspace_id } = yield* setUp
        const run = yield* queue.enqueueInOneStatement(task)
        const [before, after] = yield* readRuns(workspace_id)
        assert.strictEqual(after?.id, run?.id)
        const ofItsOwn = { id: "", chain_run_id: "", scheduled_for: 0, due_at: 0 }
        assert.deepStrictEqual({ ...after, ...ofItsOwn }, { ...before, ...ofItsOwn })
      })
    )

    it.effect("is not added if the statement cannot decide", () =>
      Effect.gen(function* () {
        const { queue, task, workspace_id } = yield* setUp
        const attempts = {
          "of another kind": { ...task, kind: "chain" as const },
          "of another workspace": { ...task, workspace_id: yield* insertWorkspace }
        }
        for (const [name, attempt] of Object.entries(attempts)) {
          assert.isNull(yield* queue.enqueueInOneStatement(attempt), name)
        }
        yield* enqueueMany(task, maxUnfinishedRunsPerTask - 1_000)
        assert.isNull(yield* queue.enqueueInOneStatement(task), "nearly full")
        yield* queue.enqueue(task)
        assert.strictEqual((yield* readRuns(workspace_id)).length, maxUnfinishedRunsPerTask - 998)
      })
    )

    it.effect("is not added if the task is deleted while the statement waits for it", () =>
      Effect.gen(function* () {
        const { queue, task, workspace_id } = yield* setUp
        const sql = yield* SqlClient.SqlClient
        const isLocked = yield* Deferred.make<void>()
        const mayDelete = yield* Deferred.make<void>()
        const deletion = yield* Effect.gen(function* () {
          yield* sql`SELECT FROM tasks WHERE id = ${task.task_id} FOR UPDATE`
          yield* Deferred.succeed(isLocked, undefined)
          yield* Deferred.await(mayDelete)
          yield* sql`DELETE FROM tasks WHERE id = ${task.task_id}`
        }).pipe(sql.withTransaction, Effect.forkChild)
        yield* Deferred.await(isLocked)
        const attempt = yield* Effect.forkChild(queue.enqueueInOneStatement(task), {
          startImmediately: true
        })
        yield* Deferred.succeed(mayDelete, undefined)
        yield* Fiber.join(deletion)
        assert.isNull(yield* Fiber.join(attempt))
        assert.strictEqual((yield* readRuns(workspace_id)).length, 1)
      })
    )
  }
)
