// @tags idle
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { claim } from "../../../src/engine/transitions/claim.ts"
import { firstPositionAt } from "../../../src/engine/laneTurns.ts"
import { registerNode } from "../../../src/engine/Nodes.ts"
import { Partitions } from "../../../src/engine/Partitions.ts"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { start } from "../../../src/engine/transitions/start.ts"
import { clearStoppedRuns, listStops } from "../../../src/engine/transitions/stop.ts"
import { nodeLayer, RunQueueLayer } from "../runner/support/engine.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { makeFakeCalls, urlOf } from "../runner/support/fakeCalls.ts"
import {
  enqueueMany,
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace,
  readRuns
} from "../runner/support/tasks.ts"

const calls = makeFakeCalls()
const { answers } = calls

const OneNode = nodeLayer(calls.layer).pipe(Layer.provideMerge(TestDatabaseLayer))

layer(OneNode, { excludeTestServices: true })("the run engine", (it) => {
  describe("stopping", () => {
    it.effect("a task cancels its queued and running runs", () =>
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
        yield* eventually(readRuns(workspace_id), ([run]) => run?.state === "running")
        yield* sql`
          UPDATE tasks
          SET next_fire_at = now()
          WHERE id = ${task_id}`
        yield* queue.wake(new Date())
        yield* eventually(readRuns(workspace_id), (runs) =>
          runs.some((run) => run.state === "blocked")
        )

        yield* sql`
          UPDATE tasks
          SET status = 'paused', next_fire_at = NULL
          WHERE id = ${task_id}`
        yield* queue.stop({ workspace_id, task_id })
        const [first] = yield* readExecutions(workspace_id)
        assert.strictEqual(first?.status, "cancelled")
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 2)
        assert.deepStrictEqual(
          rows.map((row) => row.status),
          ["cancelled", "cancelled"]
        )
        assert.isEmpty(yield* readRuns(workspace_id))
      })
    )

    it.effect("a task stops a queue of any length immediately and permanently", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { url: urlOf("/long") })
        const task = { workspace_id, task_id }
        yield* enqueueMany(task, 3_000, 3_600_000)
        yield* queue.stop(task)
        // Without the stop, the whole queue would be due now. The task is active again.
        yield* sql`
          UPDATE runs
          SET due_at = now()
          WHERE task_id = ${task_id}`
        const { id } = yield* queue.enqueue({ ...task, kind: "cron" })
        yield* queue.wake(new Date())
        const rows = yield* eventually(
          readExecutions(workspace_id),
          (rows) => rows.length === 3_001
        )
        assert.deepStrictEqual(
          rows.filter((row) => row.status !== "cancelled").map((row) => [row.id, row.status]),
          [[id, "succeeded"]]
        )
        assert.isTrue(rows.every((row) => row.id === id || row.started_at === null))
        assert.strictEqual(calls.to("/long").length, 1)
        assert.isEmpty(yield* readRuns(workspace_id))
        yield* eventually(stopsOf(workspace_id), (stops) => stops.length === 0)
      })
    )

    it.effect("a workspace aborts its calls and empties its queue", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        let cutOff = 0
        answers.set("/of-a-workspace", () =>
          Effect.onInterrupt(Effect.never, () => Effect.sync(() => void cutOff++))
        )
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { url: urlOf("/of-a-workspace") })
        yield* enqueueMany({ workspace_id, task_id }, 3)
        yield* queue.wake(new Date())
        yield* eventually(
          readRuns(workspace_id),
          (runs) => runs.length === 3 && runs.every((run) => run.state === "running")
        )
        yield* enqueueMany({ workspace_id, task_id }, 1_000, 3_600_000)
        yield* sql`
          DELETE FROM workspaces
          WHERE id = ${workspace_id}`
        yield* queue.removeWorkspace(workspace_id)
        yield* eventually(readRuns(workspace_id), (runs) => runs.length === 0)
        assert.strictEqual(cutOff, 3)
        yield* eventually(stopsOf(workspace_id), (stops) => stops.length === 0)
      })
    )

    it.effect("withdraws slots that were fired ahead, without a record", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { fires_in: 1_500, url: urlOf("/ahead") })
        yield* queue.wake(new Date())
        yield* eventually(readRuns(workspace_id), (runs) => runs.length === 1)
        yield* queue.withdrawSlots({ workspace_id, task_id })
        assert.isEmpty(yield* readRuns(workspace_id))
        yield* Effect.sleep(1_800)
        assert.isEmpty(calls.to("/ahead"))
        assert.isEmpty(yield* readExecutions(workspace_id))
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
        assert.isNull(yield* queue.cancel(other, run.id))
        assert.strictEqual(yield* queue.cancel(workspace_id, run.id), "cancelled")
        assert.isNull(yield* queue.cancel(workspace_id, run.id))
        const [row] = yield* readExecutions(workspace_id)
        assert.strictEqual(row?.status, "cancelled")
      })
    )
  })
})

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), {
  excludeTestServices: true
})("a stop", (it) => {
  it.effect("is one row and one batch of the queue, and every start checks for it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      yield* (yield* Partitions).maintain(30)
      const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
      const workspace_id = yield* insertWorkspace
      const task_id = yield* insertTask(workspace_id)
      const other = yield* insertTask(workspace_id)
      yield* enqueueMany({ workspace_id, task_id }, 900)
      yield* queue.stop({ workspace_id, task_id })
      assert.strictEqual((yield* readRuns(workspace_id)).length, 400)
      const after = yield* queue.enqueue({ workspace_id, task_id, kind: "cron" })
      const beside = yield* queue.enqueue({ workspace_id, task_id: other, kind: "cron" })

      const claimed = yield* claim(sql, {
        node,
        limit: 1_000,
        lookAheadMs: 0,
        from: firstPositionAt(0),
        turns: null
      })
      assert.deepStrictEqual(
        claimed.started.map(({ id }) => id).toSorted(),
        [after.id, beside.id].toSorted()
      )
      assert.strictEqual(claimed.leased.length, 400)
      const guarded = yield* start(sql, node, claimed.leased)
      assert.isEmpty(guarded.started)
      assert.isTrue(guarded.refused.every(({ status }) => status === "cancelled"))
      assert.strictEqual(guarded.refused.length, 400)
    })
  )

  it.effect("of a task withdraws future slots, and records all other queued runs", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      yield* (yield* Partitions).maintain(30)
      const workspace_id = yield* insertWorkspace
      const task = { workspace_id, task_id: yield* insertTask(workspace_id) }
      yield* enqueueMany(task, 1_200)
      // Slots for the last 600 and the next 500 minutes, as well as manual runs.
      yield* sql`
        UPDATE runs
        SET slot_at = now() + (nr - 600) * interval '1 minute'
        FROM (
          SELECT id, row_number() OVER (ORDER BY id) AS nr
          FROM runs
          WHERE task_id = ${task.task_id}
        ) AS numbered
        WHERE runs.id = numbered.id
          AND nr <= 1100`
      const slotsToCome = sql`
        SELECT id
        FROM runs
        WHERE task_id = ${task.task_id}
          AND slot_at > now()`
      assert.strictEqual((yield* slotsToCome).length, 500)

      yield* queue.stop(task)
      // The service continues to clear the queue after the request, and records all remaining runs.
      assert.strictEqual((yield* readRuns(workspace_id)).length, 200)
      assert.isEmpty(yield* slotsToCome)
      const stop = (yield* listStops(sql)).find(({ id }) => id === task.task_id)
      assert(stop !== undefined)
      const cleared = yield* sql.withTransaction(clearStoppedRuns(sql, stop))
      assert.strictEqual(cleared.settled.finished.length, 200)
      assert.isEmpty(yield* readRuns(workspace_id))
      const rows = yield* readExecutions(workspace_id)
      assert.strictEqual(rows.length, 700)
      assert.isTrue(rows.every(({ status }) => status === "cancelled"))
    })
  )
})

const stopsOf = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      SELECT id
      FROM stops
      WHERE workspace_id = ${workspaceId}`
  )

describe("stopping a node", () => {
  it.live("lets running calls finish, and leaves other runs to other nodes", () =>
    Effect.gen(function* () {
      const workspace_id = yield* insertWorkspace
      const ahead = yield* insertTask(workspace_id, { fires_in: 30_000 })
      answers.set("/ending", () => Effect.as(Effect.sleep(1_500), {}))
      const ending = yield* insertTask(workspace_id, { fires_in: 0, url: urlOf("/ending") })
      yield* eventually(
        readRuns(workspace_id),
        (runs) => runs.length === 2 && runs.some((run) => run.state === "running")
      ).pipe(Effect.provide(nodeLayer(calls.layer, { lookAheadMs: 60_000 })))
      const [row, ...more] = yield* readExecutions(workspace_id)
      assert.isEmpty(more)
      assert.strictEqual(row?.task_id, ending)
      assert.strictEqual(row?.status, "succeeded")
      const [held, ...others] = yield* readRuns(workspace_id)
      assert.isEmpty(others)
      assert.deepInclude(held, { task_id: ahead, state: "ready", lease_owner: null })
    }).pipe(Effect.provide(TestDatabaseLayer))
  )
})
