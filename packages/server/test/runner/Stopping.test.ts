import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunQueue } from "../../src/runner/RunQueue.ts"
import { nodeLayer } from "./support/engine.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { makeFakeCalls, urlOf } from "./support/fakeCalls.ts"
import { eventually, history, insertTask, insertWorkspace, unfinished } from "./support/tasks.ts"

const calls = makeFakeCalls()
const { answers } = calls

const OneNode = nodeLayer(calls.layer).pipe(Layer.provideMerge(TestDatabaseLayer))

layer(OneNode, { excludeTestServices: true, timeout: "180 seconds" })("the run engine", (it) => {
  describe("stopping", () => {
    it.effect("a task cancels what is queued and what is running", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        answers.set("/slow", () => Effect.never)
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, {
          url: urlOf("/slow"),
          overlap: "queue",
          fires_in: 0
        })
        yield* queue.wake(new Date())
        yield* eventually(unfinished(workspace_id), ([run]) => run?.state === "running")
        yield* sql`
          UPDATE tasks
          SET next_fire_at = now()
          WHERE id = ${task_id}`
        yield* queue.wake(new Date())
        yield* eventually(unfinished(workspace_id), (runs) => runs.some((run) => run.waiting))

        yield* sql`
          UPDATE tasks
          SET status = 'paused', next_fire_at = NULL
          WHERE id = ${task_id}`
        yield* queue.stop({ workspace_id, task_id })
        const [first] = yield* history(workspace_id)
        assert.strictEqual(first?.status, "cancelled")
        const rows = yield* eventually(history(workspace_id), (rows) => rows.length === 2)
        assert.deepStrictEqual(
          rows.map((row) => row.status),
          ["cancelled", "cancelled"]
        )
        assert.isEmpty(yield* unfinished(workspace_id))
      })
    )

    it.effect("forgets slots that were fired ahead, without a trace", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { fires_in: 1_500, url: urlOf("/ahead") })
        yield* queue.wake(new Date())
        yield* eventually(unfinished(workspace_id), (runs) => runs.length === 1)
        yield* queue.forgetSlots({ workspace_id, task_id })
        assert.isEmpty(yield* unfinished(workspace_id))
        yield* Effect.sleep(1_800)
        assert.isEmpty(calls.to("/ahead"))
        assert.isEmpty(yield* history(workspace_id))
      })
    )

    it.effect("one execution needs the right workspace and an execution that has not ended", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const other = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
        const run = yield* queue.schedule({
          workspace_id,
          task_id,
          run_at: new Date(Date.now() + 3_600_000)
        })
        const execution = { task_id, execution_id: run.id }
        assert.isNull(yield* queue.cancel({ ...execution, workspace_id: other }))
        assert.strictEqual(yield* queue.cancel({ ...execution, workspace_id }), "cancelled")
        assert.isNull(yield* queue.cancel({ ...execution, workspace_id }))
        const [row] = yield* history(workspace_id)
        assert.strictEqual(row?.status, "cancelled")
      })
    )
  })
})

describe("stopping a node", () => {
  it.live("lets running calls end, and leaves what has not started to others", () =>
    Effect.gen(function* () {
      const workspace_id = yield* insertWorkspace
      const ahead = yield* insertTask(workspace_id, { fires_in: 30_000 })
      answers.set("/ending", () => Effect.as(Effect.sleep(1_500), {}))
      const ending = yield* insertTask(workspace_id, { fires_in: 0, url: urlOf("/ending") })
      yield* eventually(
        unfinished(workspace_id),
        (runs) => runs.length === 2 && runs.some((run) => run.state === "running")
      ).pipe(Effect.provide(nodeLayer(calls.layer, { lookAheadMs: 60_000 })))
      const [row, ...more] = yield* history(workspace_id)
      assert.isEmpty(more)
      assert.strictEqual(row?.task_id, ending)
      assert.strictEqual(row?.status, "succeeded")
      const [held, ...others] = yield* unfinished(workspace_id)
      assert.isEmpty(others)
      assert.deepInclude(held, { task_id: ahead, state: "queued", lease_owner: null })
    }).pipe(Effect.provide(TestDatabaseLayer))
  )
})
