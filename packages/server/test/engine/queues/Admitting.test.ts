// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { admitAheadMs } from "../../../src/engine/transitions/admit.ts"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { recover } from "../../../src/engine/transitions/recover.ts"
import { nodeLayer } from "../runner/support/engine.ts"
import { makeFakeCalls, urlOf } from "../runner/support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertTasks,
  insertWorkspace,
  callStep,
  readRuns
} from "../runner/support/tasks.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { enqueueOverdue, CallsInProgress, insertQueue, setQueue } from "./queues.ts"

const calls = makeFakeCalls()
const { answers } = calls

const OneNode = nodeLayer(calls.layer).pipe(Layer.provideMerge(TestDatabaseLayer))

/** Responds to calls to this path after a delay, and measures the calls. */
const gaugeOf = (path: string, ms: number) => {
  const gauge = new CallsInProgress()
  answers.set(path, () =>
    Effect.acquireUseRelease(
      Effect.sync(() => gauge.begin()),
      () => Effect.as(Effect.sleep(ms), {}),
      () => Effect.sync(() => gauge.end())
    )
  )
  return gauge
}

layer(OneNode, { excludeTestServices: true })("a named queue", (it) => {
  it.effect("never has more active runs than its limit, and finishes them all", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 2 })
      const gauge = gaugeOf("/two", 20)
      const task = yield* insertTask(workspace, { url: urlOf("/two") })
      yield* setQueue([task], queueId)
      yield* enqueueOverdue(task, 60)
      yield* (yield* RunQueue).admit(workspace, queueId)
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 60)
      assert.isTrue(rows.every(({ status }) => status === "succeeded"))
      assert.strictEqual(gauge.most, 2)
    })
  )

  it.effect("is found without a signal", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 1 })
      const task = yield* insertTask(workspace, { url: urlOf("/found") })
      yield* setQueue([task], queueId)
      yield* enqueueOverdue(task, 1)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 1)
    })
  )

  it.effect("starts runs no more often than its rate allows, and accumulates nothing", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { rate_per_second: 20 })
      const gauge = gaugeOf("/rate", 0)
      const task = yield* insertTask(workspace, { url: urlOf("/rate") })
      yield* setQueue([task], queueId)
      yield* Effect.sleep(500)
      yield* enqueueOverdue(task, 60)
      yield* (yield* RunQueue).admit(workspace, queueId)
      yield* eventually(readExecutions(workspace), ({ length }) => length === 60)
      const took = (gauge.began.at(-1) ?? 0) - (gauge.began[0] ?? 0)
      // Runs are admitted ahead of time, so a delayed call can be closer to the next one by up to
      // that time.
      assert.isAtLeast(took, 59 * 50 - admitAheadMs)
      assert.isAtMost(gauge.mostWithin(1_000), 20 * (1 + admitAheadMs / 1_000) + 1)
    })
  )

  it.effect("keeps no slot for a run that waits for another attempt", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queue = yield* RunQueue
      const queueId = yield* insertQueue(workspace, { max_concurrency: 1 })
      answers.set("/later", () =>
        Effect.succeed({ status_code: 503, outcome: "retryable", retry_after_seconds: 1_800 })
      )
      const [failing = "", fine = ""] = [
        yield* insertTask(workspace, { url: urlOf("/later"), retry_count: 1 }),
        yield* insertTask(workspace, { url: urlOf("/meanwhile") })
      ]
      yield* setQueue([failing, fine], queueId)
      yield* queue.enqueue({ workspace_id: workspace, task_id: failing, kind: "cron" })
      yield* eventually(readRuns(workspace), ([run]) => run?.attempt === 2)
      yield* queue.enqueue({ workspace_id: workspace, task_id: fine, kind: "cron" })
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 1)
      assert.strictEqual(rows[0]?.task_id, fine)
      assert.strictEqual((yield* readRuns(workspace))[0]?.state, "parked")
    })
  )

  it.effect("admits each step of a chain ahead of runs that have not started", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 1 })
      const gauge = gaugeOf("/step", 5)
      const chain = yield* insertTask(workspace, {
        kind: "chain",
        steps: ["a", "b", "c"].map((name) => callStep(name, { url: urlOf("/step") }))
      })
      yield* setQueue([chain], queueId)
      for (let run = 0; run < 3; run++) {
        yield* (yield* RunQueue).enqueue({
          workspace_id: workspace,
          task_id: chain,
          kind: "chain"
        })
      }
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 9)
      const inOrder = rows.toSorted((a, b) => +(a.started_at ?? 0) - +(b.started_at ?? 0))
      assert.strictEqual(inOrder.map((row) => row.step).join(""), "abcabcabc")
      assert.strictEqual(gauge.most, 1)
    })
  )

  it.effect("runs the slots of a schedule on time while it has room", () =>
    Effect.gen(function* () {
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 5 })
      const gauge = gaugeOf("/slots", 50)
      const tasks = yield* insertTasks(workspace, {
        fires_in: 1_500,
        url: urlOf("/slots"),
        count: 20
      })
      yield* setQueue(tasks, queueId)
      yield* (yield* RunQueue).wake(new Date())
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 20)
      assert.strictEqual(gauge.most, 5)
      assert.isTrue(rows.every(({ lateness_ms }) => (lateness_ms ?? -1) >= 0))
      const soonest = Math.min(...rows.map(({ lateness_ms }) => lateness_ms ?? 1e9))
      assert.isBelow(soonest, 1_000)
    })
  )

  it.effect("skips a slot while the previous one still waits, if overlap is skip", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 1, paused: true })
      const fires = { fires_in: -1_000, url: urlOf("/skips") }
      const skips = yield* insertTask(workspace, { ...fires, overlap: "skip" })
      const allows = yield* insertTask(workspace, { ...fires, overlap: "allow" })
      yield* setQueue([skips, allows], queueId)
      yield* eventually(readRuns(workspace), ({ length }) => length === 2)
      yield* sql`
        UPDATE tasks
        SET next_fire_at = now()
        WHERE workspace_id = ${workspace}`
      yield* eventually(readRuns(workspace), ({ length }) => length === 3)
      const [skipped] = yield* eventually(readExecutions(workspace), ({ length }) => length === 1)
      assert.strictEqual(skipped?.task_id, skips)
      assert.strictEqual(skipped?.status, "skipped")
      assert.strictEqual(skipped?.error, "overlap: the previous run was still waiting in its queue")
    })
  )

  it.effect("lets a run wait without a slot for the previous one, and then for its own slot", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 2 })
      const gauge = gaugeOf("/queued", 1_500)
      const task = yield* insertTask(workspace, {
        fires_in: -1_000,
        url: urlOf("/queued"),
        overlap: "queue"
      })
      yield* setQueue([task], queueId)
      yield* eventually(readRuns(workspace), ([run]) => run?.state === "running")
      yield* sql`
        UPDATE tasks
        SET next_fire_at = now()
        WHERE id = ${task}`
      yield* eventually(
        sql`SELECT id FROM runs WHERE task_id = ${task} AND state = 'blocked'`,
        ({ length }) => length === 1
      )
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 2)
      assert.isTrue(rows.every(({ status }) => status === "succeeded"))
      assert.strictEqual(gauge.most, 1)
    })
  )

  it.effect("keeps the slot of a lost call for as long as the call may continue", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 2 })
      const gauge = gaugeOf("/lost", 20)
      const task = yield* insertTask(workspace, { url: urlOf("/lost") })
      yield* setQueue([task], queueId)
      const [node] = yield* sql<{ readonly id: number }>`
        INSERT INTO nodes (holds_lock, lease_until, died_at)
        VALUES (false, 'infinity', now())
        RETURNING id`
      yield* enqueueOverdue(task, 10)
      // The call continues for at most 30 s after its start, which is the task's timeout.
      yield* sql`
        UPDATE runs
        SET
          state = 'running', slot_queue_id = queue_id, lease_owner = ${node?.id ?? 0},
          started_at = now() - interval '39 seconds',
          attempt_started_at = now() - interval '39 seconds'
        WHERE id = (SELECT min(id::text)::uuid FROM runs WHERE task_id = ${task})`
      yield* recover(sql, "dead", "perhaps going on")
      const [held] = yield* sql<{ readonly ms: number }>`
        SELECT date_part('epoch', held_until[1] - now()) * 1000 AS ms
        FROM queues
        WHERE id = ${queueId}`
      assert.isAbove(held?.ms ?? 0, 0)
      assert.isBelow(held?.ms ?? 0, 1_000)
      yield* (yield* RunQueue).admit(workspace, queueId)
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 10)
      const before = rows.filter(
        ({ started_at }) => +(started_at ?? 0) - Date.now() < -39_000
      ).length
      assert.strictEqual(before, 1)
      assert.isAtMost(gauge.most, 2)
    })
  )

  it.effect("that is deleted releases the runs that wait in it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspace = yield* insertWorkspace
      const queueId = yield* insertQueue(workspace, { max_concurrency: 1, paused: true })
      const task = yield* insertTask(workspace, { url: urlOf("/gone") })
      yield* setQueue([task], queueId)
      yield* enqueueOverdue(task, 20)
      yield* sql`DELETE FROM queues WHERE id = ${queueId}`
      yield* eventually(readExecutions(workspace), ({ length }) => length === 20)
    })
  )

  describe("that a task leaves or enters", () => {
    it.effect("goes with its runs that have not started", () =>
      Effect.gen(function* () {
        const workspace = yield* insertWorkspace
        const queue = yield* RunQueue
        const paused = yield* insertQueue(workspace, { max_concurrency: 1, paused: true })
        const open = yield* insertQueue(workspace, { max_concurrency: 1 })
        const gauge = gaugeOf("/moves", 10)
        const tasks = yield* insertTasks(workspace, { url: urlOf("/moves"), count: 2 })
        yield* setQueue(tasks, paused)
        for (const id of tasks) yield* enqueueOverdue(id, 5)
        const [first = "", second = ""] = tasks
        yield* queue.moveToQueue({ workspace_id: workspace, task_id: first }, open)
        yield* eventually(readExecutions(workspace), ({ length }) => length === 5)
        assert.strictEqual(gauge.most, 1)
        yield* queue.moveToQueue({ workspace_id: workspace, task_id: second }, null)
        yield* eventually(readExecutions(workspace), ({ length }) => length === 10)
      })
    )
  })
})
