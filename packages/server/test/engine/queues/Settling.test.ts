// @tags idle
import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { nodeLayer } from "../runner/support/engine.ts"
import { failingWith, makeFakeCalls, urlOf } from "../runner/support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace,
  callStep,
  readRuns
} from "../runner/support/tasks.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { enqueueOverdue, insertQueue, setQueue } from "./queues.ts"

const calls = makeFakeCalls()
const { answers } = calls

/** Creates overdue runs of a task, in a queue that executes one run at a time. */
const queuedRuns = Effect.fnUntraced(function* (
  path: string,
  count: number,
  options: FiringOptions | null = null
) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* insertWorkspace
  const queueId = yield* insertQueue(workspace, { max_concurrency: 1 })
  const task = yield* insertTask(workspace, { url: urlOf(path) })
  yield* setQueue([task], queueId)
  yield* sql`
    UPDATE tasks
    SET firing_options = ${options && JSON.stringify(options)}
    WHERE id = ${task}`
  yield* enqueueOverdue(task, count)
  return { workspace, queueId, task }
})

/** Makes updates fail for rows that meet the condition, until the test ends. */
const refuseUpdates = (table: "runs" | "tasks", condition: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Effect.acquireRelease(
      Effect.andThen(
        sql.unsafe(`
          CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
          AS $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$`),
        sql.unsafe(`
          CREATE TRIGGER refuse BEFORE UPDATE ON ${table}
          FOR EACH ROW WHEN (${condition})
          EXECUTE FUNCTION refuse()`)
      ),
      () => Effect.orDie(sql.unsafe("DROP FUNCTION IF EXISTS refuse CASCADE"))
    )
  })

const OneNode = nodeLayer(calls.layer).pipe(Layer.provideMerge(TestDatabaseLayer))

layer(OneNode, { excludeTestServices: true })("the result of a run in a named queue", (it) => {
  it.effect("is written with its response, although its slot cannot be handed over", () =>
    Effect.gen(function* () {
      // Only when a slot is handed over does one statement both assign the slot and start the run.
      yield* refuseUpdates("runs", "OLD.state = 'parked' AND NEW.state = 'running'")
      const { queueId, workspace } = yield* queuedRuns("/refused", 3)
      yield* (yield* RunQueue).admit(workspace, queueId)
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 3)
      assert.deepStrictEqual(
        rows.map(({ error, status, status_code }) => [status, status_code, error]),
        [
          ["succeeded", 200, null],
          ["succeeded", 200, null],
          ["succeeded", 200, null]
        ]
      )
    })
  )

  for (const kind of ["another attempt", "the next step"] as const) {
    it.effect(`lets ${kind} wait in the queue to which its task was moved meanwhile`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const [first, paused, open] = [
          yield* insertQueue(workspace_id, { max_concurrency: 1 }),
          yield* insertQueue(workspace_id, { max_concurrency: 1, paused: true }),
          yield* insertQueue(workspace_id, { max_concurrency: 1 })
        ]
        const isStep = kind === "the next step"
        const path = isStep ? "/moved-step" : "/moved-attempt"
        const steps = [callStep("one", { url: urlOf(path) }), callStep("two")]
        const task_id = yield* insertTask(workspace_id, {
          url: urlOf(path),
          retry_count: 1,
          ...(isStep && { kind: "chain", steps })
        })
        const move = Effect.fnUntraced(function* (to: string) {
          yield* setQueue([task_id], to)
          yield* queue.moveToQueue({ workspace_id, task_id }, to)
        })
        const going = yield* Deferred.make<void>()
        answers.set(path, (request) =>
          request.attempt > 1
            ? Effect.succeed({})
            : Effect.andThen(
                Deferred.await(going),
                isStep ? Effect.succeed({}) : failingWith(503)(request)
              )
        )
        yield* setQueue([task_id], first)
        yield* queue.enqueue({ workspace_id, task_id, kind: isStep ? "chain" : "cron" })
        yield* eventually(
          Effect.sync(() => calls.to(path).length),
          (made) => made === 1
        )
        yield* move(paused)
        const queuesOf = sql<{
          readonly queue_id: string
          readonly slot_queue_id: string | null
          readonly state: string
        }>`
          SELECT queue_id, slot_queue_id, state
          FROM runs
          WHERE task_id = ${task_id}`
        // The run keeps its slot until the attempt has finished.
        assert.deepStrictEqual(yield* queuesOf, [
          { queue_id: paused, slot_queue_id: first, state: "running" }
        ])
        yield* Deferred.succeed(going, undefined)
        yield* eventually(queuesOf, ([run]) => run?.state === "parked")
        yield* move(open)
        yield* eventually(readExecutions(workspace_id), ({ length }) => length === (isStep ? 2 : 1))
        assert.isEmpty(yield* readRuns(workspace_id))
      })
    )
  }

  it.effect("is written, and its slot handed over, although its task cannot be paused", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ends = yield* Deferred.make<void>()
      answers.set("/fails", (request) =>
        Effect.andThen(Deferred.await(ends), failingWith(500)(request))
      )
      const options = { pause_after_failures: 1 }
      const { queueId, task, workspace } = yield* queuedRuns("/fails", 3, options)
      yield* (yield* RunQueue).admit(workspace, queueId)
      yield* eventually(readRuns(workspace), (runs) =>
        runs.some(({ state }) => state === "running")
      )
      yield* refuseUpdates("tasks", "NEW.status = 'paused'")
      // The other runs can start only in the slot that a finished run releases.
      yield* refuseUpdates("runs", "OLD.state = 'parked' AND NEW.state IN ('ready', 'leased')")
      yield* Deferred.succeed(ends, undefined)
      const rows = yield* eventually(readExecutions(workspace), ({ length }) => length === 3)
      assert.isTrue(
        rows.every(
          ({ error, status }) => status === "failed" && error === "http_status: responded with 500"
        )
      )
      const [row] = yield* sql<{ readonly status: string }>`
        SELECT status
        FROM tasks
        WHERE id = ${task}`
      assert.strictEqual(row?.status, "active")
    })
  )
})

describe("a node that stops", () => {
  it.live("starts nothing in the slot of a finished run, and leaves the slot to another node", () =>
    Effect.gen(function* () {
      const ends = yield* Deferred.make<object>()
      answers.set("/last", () => Deferred.await(ends))
      const { queueId, workspace } = yield* queuedRuns("/last", 2)
      const ahead = yield* insertTask(workspace, { fires_in: 30_000 })
      const own = yield* Scope.make()
      const node = yield* Layer.buildWithScope(nodeLayer(calls.layer, { lookAheadMs: 60_000 }), own)
      yield* Effect.provide(
        Effect.flatMap(RunQueue, (queue) => queue.admit(workspace, queueId)),
        node
      )
      const aheadOf = (leased: boolean) =>
        eventually(readRuns(workspace), (runs) =>
          runs.some(
            ({ lease_owner, task_id }) => task_id === ahead && (lease_owner !== null) === leased
          )
        )
      yield* eventually(readRuns(workspace), (runs) =>
        runs.some(({ state }) => state === "running")
      )
      yield* aheadOf(true)

      const stopping = yield* Effect.forkChild(Scope.close(own, Exit.void))
      // Runs that the node holds for later are released first. Only then does the call finish.
      yield* aheadOf(false)
      yield* Deferred.succeed(ends, {})
      yield* Fiber.join(stopping)
      assert.lengthOf(calls.to("/last"), 1)
      const ended = yield* readExecutions(workspace)
      assert.deepStrictEqual(
        ended.map(({ status }) => status),
        ["succeeded"]
      )
      const next = (yield* readRuns(workspace)).find(({ task_id }) => task_id !== ahead)
      assert.deepInclude(next, { state: "parked", lease_owner: null })

      yield* Effect.provide(
        eventually(readExecutions(workspace), ({ length }) => length === 2),
        nodeLayer(calls.layer)
      )
      assert.lengthOf(calls.to("/last"), 2)
    }).pipe(Effect.provide(TestDatabaseLayer))
  )
})
