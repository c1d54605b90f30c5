import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { RunState } from "../../src/engine/RunState.ts"
import { recover } from "../../src/engine/transitions/recover.ts"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { finishUnclaimed } from "../../src/engine/workers/finishUnclaimed.ts"
import { Signals } from "../../src/events/Signals.ts"
import { RunQueueLayer } from "./runner/support/engine.ts"
import { readExecutions, insertTask, insertWorkspace } from "./runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { enqueueOverdue, insertQueue, setQueue } from "./queues/queues.ts"
import { inState } from "./transitions/inState.ts"

/** Records the signals that this process's runner receives. */
const listening = Effect.gen(function* () {
  const heard: Array<string> = []
  yield* (yield* Signals).listen({
    wake: Effect.sync(() => void heard.push("wake")),
    cancel: () => Effect.succeed(false),
    stop: Effect.void,
    admit: (queueIds) => Effect.sync(() => void heard.push(...queueIds))
  })
  return heard
})

/** Creates a run that holds a slot in a queue, and a run that waits for that slot. */
const runInQueue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const workspace_id = yield* insertWorkspace
  const queueId = yield* insertQueue(workspace_id, { max_concurrency: 1 })
  const task_id = yield* insertTask(workspace_id, { overlap: "queue" })
  yield* setQueue([task_id], queueId)
  yield* enqueueOverdue(task_id, 1)
  const change = (state: RunState, columns: Readonly<Record<string, unknown>> = {}) => sql<{
    readonly id: string
  }>`
    UPDATE runs
    SET ${sql.update({ ...inState(state, { node: 4_711, queue: queueId }), ...columns })}
    WHERE workspace_id = ${workspace_id}
      AND task_id = ${task_id}
    RETURNING id`
  return { change, queueId, task: { workspace_id, task_id } }
})

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)))("the slot in a queue", (it) => {
  it.effect("of a cancelled run that awaited its completion is handed over immediately", () =>
    Effect.gen(function* () {
      const { change, queueId, task } = yield* runInQueue
      const [run] = yield* change("awaiting", { status_code: 202 })
      const heard = yield* listening
      const cancelled = yield* (yield* RunQueue).cancel(task.workspace_id, run?.id ?? "")
      assert.strictEqual(cancelled, "cancelled")
      assert.include(heard, queueId)
    })
  )

  it.effect("of a paused task is handed over too", () =>
    Effect.gen(function* () {
      const { change, queueId, task } = yield* runInQueue
      yield* change("awaiting", { status_code: 202 })
      const heard = yield* listening
      yield* (yield* RunQueue).stop(task)
      assert.include(heard, queueId)
      assert.lengthOf(yield* readExecutions(task.workspace_id), 1)
    })
  )

  it.effect("of a run that no worker claimed is handed over immediately", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { change, queueId, task } = yield* runInQueue
      yield* change("ready", {
        run_on: JSON.stringify({ labels: ["moon"] }),
        worker_wait_seconds: 0,
        due_at: new Date(0)
      })
      const heard = yield* listening
      yield* finishUnclaimed(sql, true)
      assert.include(heard, queueId)
      const [ended] = yield* readExecutions(task.workspace_id)
      assert.match(ended?.error ?? "", /^no_worker/)
    })
  )

  for (const state of ["leased", "running"] as const) {
    it.effect(`of a ${state} run whose node is dead is handed over at once`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { change, queueId } = yield* runInQueue
        yield* change(state)
        const heard = yield* listening
        yield* recover(sql, 4_711, "gone")
        assert.include(heard, queueId)
      })
    )
  }
})

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)))(
  "a run that waits for another",
  (it) => {
    it.effect("is released when that run has finished without a worker", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { overlap: "queue" })
        yield* enqueueOverdue(task_id, 2)
        yield* sql`
        UPDATE runs
        SET state = 'blocked'
        WHERE task_id = ${task_id}`
        yield* sql`
        UPDATE runs
        SET
          state = 'ready', run_on = '{"labels":["moon"]}', worker_wait_seconds = 0, due_at = 'epoch'
        WHERE id = (SELECT min(id::text)::uuid FROM runs WHERE task_id = ${task_id})`
        const heard = yield* listening
        yield* finishUnclaimed(sql, true)
        assert.lengthOf(yield* readExecutions(workspace_id), 1)
        assert.include(heard, "wake")
      })
    )
  }
)
