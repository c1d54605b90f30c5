import { assert, layer } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { maxUnfinishedRunsPerTask, selfHostedPlan } from "../../src/core/config/plans.ts"
import { fire } from "../../src/engine/transitions/fire.ts"
import { Partitions } from "../../src/engine/Partitions.ts"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { RunQueueLayer } from "./runner/support/engine.ts"
import {
  enqueueMany,
  readExecutions,
  insertTask,
  insertWorkspace,
  readRuns
} from "./runner/support/tasks.ts"

const TestLayer = RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

const maxWorkspaceRuns = selfHostedPlan.limits.unfinished_runs

layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })(
  "the queue of a task",
  (it) => {
    it.effect("is full at 10,000 runs: a manual run is rejected, but not one of another task", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task = { workspace_id, task_id: yield* insertTask(workspace_id) }
        const other = { workspace_id, task_id: yield* insertTask(workspace_id) }
        yield* enqueueMany(task, maxUnfinishedRunsPerTask - 1)
        yield* queue.enqueue({ ...task, kind: "cron" })
        const refused = yield* Effect.flip(queue.enqueue({ ...task, kind: "cron" }))
        assert.deepInclude(refused, {
          quota: "unfinished_runs_of_a_task",
          limit: maxUnfinishedRunsPerTask
        })
        yield* queue.enqueue({ ...other, kind: "cron" })
        assert.strictEqual((yield* readRuns(workspace_id)).length, maxUnfinishedRunsPerTask + 1)
      })
    )

    it.effect("that would exceed 10,000 runs accepts no reruns", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task = { workspace_id, task_id: yield* insertTask(workspace_id) }
        const run = { id: randomUUID(), scheduled_for: new Date(0) }
        const other = { ...run, task_id: yield* insertTask(workspace_id) }
        const ended = { ...run, ...task }
        yield* enqueueMany(task, maxUnfinishedRunsPerTask - 1)
        const refused = yield* Effect.flip(queue.rerun(workspace_id, [other, ended, ended]))
        assert.deepInclude(refused, {
          quota: "unfinished_runs_of_a_task",
          limit: maxUnfinishedRunsPerTask
        })
        assert.strictEqual((yield* readRuns(workspace_id)).length, maxUnfinishedRunsPerTask - 1)
        const runs = yield* queue.rerun(workspace_id, [other, ended])
        assert.strictEqual(runs.length, 2)
        assert.isEmpty(yield* queue.rerun(workspace_id, []))
      })
    )

    it.effect("that is full skips the firings of its schedule, and says so", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* (yield* Partitions).maintain(30)
        const workspace_id = yield* insertWorkspace
        const fires = { overlap: "allow", fires_in: 0 } as const
        const task = { workspace_id, task_id: yield* insertTask(workspace_id, fires) }
        const other = yield* insertTask(workspace_id, fires)
        yield* enqueueMany(task, maxUnfinishedRunsPerTask)
        yield* fire(sql, {
          node: 0,
          limit: 10,
          lookAheadMs: 1_000,
          turns: null,
          leases: () => false
        })
        const [skipped, ...more] = yield* readExecutions(workspace_id)
        assert.isEmpty(more)
        assert.deepInclude(skipped, {
          task_id: task.task_id,
          status: "skipped",
          attempts_count: 0,
          error: "too_many_runs: the task has reached its limit of 10000 unfinished runs"
        })
        const runs = yield* readRuns(workspace_id)
        assert.strictEqual(runs.length, maxUnfinishedRunsPerTask + 1)
        assert.strictEqual(runs.filter(({ task_id }) => task_id === other).length, 1)
        // The schedule continues nevertheless.
        const [row] = yield* sql`
          SELECT next_fire_at > now() AS goes_on
          FROM tasks
          WHERE id = ${task.task_id}`
        assert.deepStrictEqual(row, { goes_on: true })
      })
    )

    // On the embedded store, inserting this many runs takes half a minute.
    it.effect.runIf(onPostgres)("and those of other tasks are full together at 200,000", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task = { workspace_id, task_id: yield* insertTask(workspace_id) }
        const crowd = { workspace_id, task_id: yield* insertTask(workspace_id) }
        for (let queued = 0; queued < maxWorkspaceRuns - 1; queued += 40_000) {
          yield* enqueueMany(crowd, Math.min(40_000, maxWorkspaceRuns - 1 - queued), 3_600_000)
        }
        yield* queue.enqueue({ ...task, kind: "cron" })
        const refused = yield* Effect.flip(queue.enqueue({ ...task, kind: "cron" }))
        assert.deepInclude(refused, { quota: "unfinished_runs", limit: maxWorkspaceRuns })
      })
    )
  }
)
