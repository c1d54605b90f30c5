// @tags idle
import { jitterMs } from "@scheduling/domain/cron/jitterMs"
import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { insertQueue } from "./queues/queues.ts"
import { nodeLayer } from "./runner/support/engine.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { failingWith, makeFakeCalls, urlOf } from "./runner/support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertTasks,
  insertWorkspace,
  readRuns
} from "./runner/support/tasks.ts"

const calls = makeFakeCalls()
const { answers } = calls

const OneNode = nodeLayer(calls.layer).pipe(Layer.provideMerge(TestDatabaseLayer))

layer(OneNode, { excludeTestServices: true })("the run engine", (it) => {
  describe("a run", () => {
    it.effect("of a schedule starts on time, once, and is recorded with its attempt", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workspace = yield* insertWorkspace
        const task = yield* insertTask(workspace, { fires_in: 700, url: urlOf("/once") })
        yield* (yield* RunQueue).wake(new Date())
        const [execution] = yield* eventually(
          readExecutions(workspace),
          (rows) => rows.length === 1
        )
        assert.strictEqual(execution?.task_id, task)
        assert.strictEqual(execution?.trigger, "schedule")
        assert.strictEqual(execution?.status, "succeeded")
        assert.isAtLeast(execution?.lateness_ms ?? -1, 0)
        // The benchmark measures lateness exactly. Here, other tests use the machine at the same
        // time.
        assert.isBelow(execution?.lateness_ms ?? 1e9, 5_000)
        const attempts = yield* sql`
          SELECT number, status_code, response_body
          FROM attempts
          WHERE execution_id = ${execution?.id ?? ""}`
        assert.deepStrictEqual(attempts, [{ number: 1, status_code: 200, response_body: "ok" }])
        assert.strictEqual(calls.to("/once").length, 1)
        assert.strictEqual(calls.to("/once")[0]?.execution_id, execution?.id)
        const [{ next_fire_at } = { next_fire_at: new Date(0) }] = yield* sql<{
          readonly next_fire_at: Date
        }>`
          SELECT next_fire_at
          FROM tasks
          WHERE id = ${task}`
        assert.isAbove(next_fire_at.getTime(), Date.now())
      })
    )

    it.effect("of a schedule with jitter starts after the delay that follows from its slot", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workspace = yield* insertWorkspace
        const tasks = yield* insertTasks(workspace, {
          fires_in: 500,
          url: urlOf("/jitter"),
          count: 8
        })
        const slots = yield* sql<{ readonly id: string; readonly slot: Date }>`
          UPDATE tasks
          SET
            firing_options = '{"jitter_seconds": 4}',
            next_fire_at = date_trunc('milliseconds', next_fire_at)
          WHERE workspace_id = ${workspace}
          RETURNING id, next_fire_at AS slot`
        yield* (yield* RunQueue).wake(new Date())
        const rows = yield* eventually(
          readExecutions(workspace),
          ({ length }) => length === tasks.length
        )
        const dueAt = new Map(
          slots.map(({ id, slot }) => [id, slot.getTime() + jitterMs(id, slot.getTime(), 4)])
        )
        for (const { scheduled_for, started_at, status, task_id } of rows) {
          assert.strictEqual(status, "succeeded")
          assert.strictEqual(scheduled_for.getTime(), dueAt.get(task_id))
          assert.isAtLeast(started_at?.getTime() ?? 0, scheduled_for.getTime())
        }
      })
    )

    it.effect("that fails is retried until it succeeds or no retry is left", () =>
      Effect.gen(function* () {
        const workspace = yield* insertWorkspace
        const queue = yield* RunQueue
        let tries = 0
        answers.set("/second", (request) =>
          Effect.suspend(() => (++tries === 1 ? failingWith(503)(request) : Effect.succeed({})))
        )
        answers.set("/never", failingWith(500))
        answers.set("/final", () => Effect.succeed({ status_code: 404, outcome: "failed" }))
        for (const path of ["/second", "/never", "/final"]) {
          const task_id = yield* insertTask(workspace, { url: urlOf(path), retry_count: 1 })
          yield* queue.enqueue({ workspace_id: workspace, task_id, kind: "cron" })
        }
        const rows = yield* eventually(readExecutions(workspace), (rows) => rows.length === 3)
        assert.deepStrictEqual(
          rows.map((row) => [row.status, row.status_code, row.attempts_count]).toSorted(),
          [
            ["failed", 404, 1],
            ["failed", 500, 2],
            ["succeeded", 200, 2]
          ]
        )
        assert.strictEqual(new Set(calls.to("/never").map((call) => call.execution_id)).size, 1)
      })
    )

    it.effect("waits for the time in Retry-After before it is retried", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workspace = yield* insertWorkspace
        answers.set("/later", () =>
          Effect.succeed({ status_code: 429, outcome: "retryable", retry_after_seconds: 1_800 })
        )
        const task_id = yield* insertTask(workspace, { url: urlOf("/later"), retry_count: 3 })
        yield* (yield* RunQueue).enqueue({ workspace_id: workspace, task_id, kind: "cron" })
        yield* eventually(readRuns(workspace), ([run]) => run?.attempt === 2)
        const [row] = yield* sql<{ readonly minutes: number }>`
          SELECT extract(epoch FROM due_at - now())::float8 / 60 AS minutes
          FROM runs
          WHERE workspace_id = ${workspace}`
        assert.closeTo(row?.minutes ?? 0, 30, 0.1)
      })
    )

    it.effect(
      "whose response contains text that PostgreSQL cannot store does not affect others",
      () =>
        Effect.gen(function* () {
          const workspace = yield* insertWorkspace
          answers.set("/nul", () =>
            Effect.succeed({
              response_body: "a\0b\ud800",
              error: executionError("internal", "c\0d")
            })
          )
          for (const path of ["/nul", "/fine"]) {
            const task_id = yield* insertTask(workspace, { url: urlOf(path) })
            yield* (yield* RunQueue).enqueue({ workspace_id: workspace, task_id, kind: "cron" })
          }
          const rows = yield* eventually(readExecutions(workspace), (rows) => rows.length === 2)
          assert.deepStrictEqual(
            rows.map((row) => row.status),
            ["succeeded", "succeeded"]
          )
        })
    )

    it.effect("of a delayed task starts at its time, and can be moved and withdrawn before", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        const sql = yield* SqlClient.SqlClient
        const workspace_id = yield* insertWorkspace
        const soon = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
        const moved = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
        const gone = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
        const nextYear = new Date(Date.now() + 364 * 86_400_000)
        yield* queue.schedule({ workspace_id, task_id: soon, run_at: new Date(Date.now() + 300) })
        yield* queue.schedule({ workspace_id, task_id: moved, run_at: nextYear })
        yield* queue.schedule({ workspace_id, task_id: gone, run_at: nextYear })
        const run = yield* queue.reschedule({
          workspace_id,
          task_id: moved,
          run_at: new Date(0),
          trigger: "manual"
        })
        assert.strictEqual(run?.trigger, "manual")
        assert.isTrue(yield* queue.withdraw({ workspace_id, task_id: gone }))
        assert.isFalse(yield* queue.withdraw({ workspace_id, task_id: gone }))
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 2)
        assert.deepStrictEqual(new Set(rows.map((row) => row.task_id)), new Set([soon, moved]))
        assert.isEmpty(yield* readRuns(workspace_id))
        assert.isNull(
          yield* queue.reschedule({
            workspace_id,
            task_id: soon,
            run_at: nextYear,
            trigger: "schedule"
          })
        )
        const states = yield* sql<{ readonly status: string }>`
          SELECT status
          FROM tasks
          WHERE id IN (${soon}, ${moved})`
        assert.deepStrictEqual(states, [{ status: "finished" }, { status: "finished" }])
      })
    )
  })

  describe("a slot", () => {
    it.effect(
      "that is due while the previous run is unfinished is skipped, waits or starts, as the task says",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const queue = yield* RunQueue
          const release = new Map<string, () => void>()
          answers.set("/held", ({ execution_id }) =>
            Effect.callback((resume) => {
              release.set(execution_id, () => resume(Effect.succeed({})))
            })
          )
          const workspace_id = yield* insertWorkspace
          const tasks = new Map<string, string>()
          for (const overlap of ["skip", "queue", "allow"] as const) {
            const task_id = yield* insertTask(workspace_id, { overlap, url: urlOf("/held") })
            tasks.set(overlap, task_id)
            yield* queue.enqueue({ workspace_id, task_id, kind: "cron" })
          }
          yield* eventually(readRuns(workspace_id), (runs) =>
            runs.every((run) => run.state === "running")
          )
          const now = yield* sql`
          UPDATE tasks
          SET next_fire_at = now()
          WHERE workspace_id = ${workspace_id}
          RETURNING id`
          assert.strictEqual(now.length, 3)
          yield* queue.wake(new Date())

          const [skipped] = yield* eventually(
            readExecutions(workspace_id),
            (rows) => rows.length === 1
          )
          assert.strictEqual(skipped?.status, "skipped")
          assert.strictEqual(skipped?.task_id, tasks.get("skip"))
          assert.isAtLeast(Number(skipped?.finished_at), Number(skipped?.scheduled_for))
          assert.strictEqual(skipped?.attempts_count, 0)
          const runs = yield* eventually(
            readRuns(workspace_id),
            (runs) =>
              runs.some((run) => run.state === "blocked") &&
              runs.filter((run) => run.state === "running").length === 4
          )
          assert.strictEqual(runs.length, 5)

          for (const [id, end] of release) {
            release.delete(id)
            end()
          }
          // The waiting run starts now that the previous one has finished.
          yield* eventually(
            Effect.sync(() => release.size),
            (size) => size === 1
          )
          for (const end of release.values()) end()
          const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 6)
          assert.strictEqual(rows.filter((row) => row.status === "succeeded").length, 5)
        })
    )

    for (const overlap of ["skip", "queue", "allow"] as const) {
      it.effect(`that passed while no node was running are all made up for, with ${overlap}`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const workspace_id = yield* insertWorkspace
          const path = `/${workspace_id}`
          const released = yield* Deferred.make<void>()
          const held = () => Effect.as(Deferred.await(released), {})
          answers.set(path, held)
          answers.set(`${path}/queued`, held)
          const queue_id = yield* insertQueue(workspace_id, { max_concurrency: 2 })
          const past = {
            missed: "all",
            fires_in: -250_000,
            schedule: "* * * * *",
            overlap
          } as const
          const plain = yield* insertTask(workspace_id, { ...past, url: urlOf(path) })
          const queued = yield* insertTask(workspace_id, { ...past, url: urlOf(`${path}/queued`) })
          yield* sql`
            UPDATE tasks
            SET
              next_fire_at = date_trunc('minute', next_fire_at),
              queue_id = CASE WHEN id = ${queued}::uuid THEN ${queue_id}::uuid END
            WHERE workspace_id = ${workspace_id}`
          yield* (yield* RunQueue).wake(new Date())
          yield* eventually(
            sql`
              SELECT id
              FROM tasks
              WHERE workspace_id = ${workspace_id}
                AND next_fire_at > now()`,
            (rows) => rows.length === 2
          )
          yield* Deferred.succeed(released, undefined)
          const lateOf = (task: string, rows: Effect.Success<ReturnType<typeof readExecutions>>) =>
            rows.filter(
              ({ lateness_ms, task_id }) => task_id === task && (lateness_ms ?? 0) > 60_000
            )
          const rows = yield* eventually(readExecutions(workspace_id), (rows) =>
            [plain, queued].every((task) => lateOf(task, rows).length >= 3)
          )
          for (const task of [plain, queued]) {
            const late = lateOf(task, rows)
            const times = new Set(late.map((row) => row.scheduled_for.getTime()))
            assert.isAtLeast(times.size, 3)
            assert.strictEqual(times.size, late.length)
            assert.deepStrictEqual([...new Set(late.map(({ status }) => status))], ["succeeded"])
            if (overlap === "allow") continue
            const started = late.toSorted((a, b) => +(a.started_at ?? 0) - +(b.started_at ?? 0))
            const due = started.map((row) => row.scheduled_for.getTime())
            assert.deepStrictEqual(due, due.toSorted())
          }
        })
      )
    }

    it.effect("of a backfill runs after the previous one, in order", () =>
      Effect.gen(function* () {
        const workspace_id = yield* insertWorkspace
        const path = `/${workspace_id}`
        const started: Array<string> = []
        let inProgress = 0
        answers.set(path, ({ execution_id }) =>
          Effect.gen(function* () {
            assert.strictEqual(++inProgress, 1)
            started.push(execution_id)
            yield* Effect.yieldNow
            inProgress--
            return {}
          })
        )
        const task_id = yield* insertTask(workspace_id, { url: urlOf(path), status: "paused" })
        const times = [5, 4, 3].map((days) => new Date(Date.now() - days * 86_400_000))
        yield* (yield* RunQueue).backfill(workspace_id, task_id, times)
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 3)
        assert.deepStrictEqual(
          rows.map(({ id, lateness_ms, scheduled_for, status, trigger }) => ({
            id,
            lateness_ms,
            scheduled_for,
            status,
            trigger
          })),
          times.map((scheduled_for, index) => ({
            id: started[index] ?? "",
            lateness_ms: null,
            scheduled_for,
            status: "succeeded" as const,
            trigger: "backfill"
          }))
        )
      })
    )

    it.effect("that passed while no node was running is made up for once, or not at all", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workspace_id = yield* insertWorkspace
        const past = { fires_in: -6 * 3_600_000, schedule: "0 * * * *" }
        const once = yield* insertTask(workspace_id, { ...past, missed: "once" })
        yield* insertTask(workspace_id, { ...past, missed: "skip" })
        yield* sql`
          UPDATE tasks
          SET next_fire_at = date_trunc('hour', next_fire_at)
          WHERE workspace_id = ${workspace_id}`
        yield* (yield* RunQueue).wake(new Date())
        yield* eventually(
          sql`
            SELECT id
            FROM tasks
            WHERE workspace_id = ${workspace_id}
              AND next_fire_at > now()`,
          (rows) => rows.length === 2
        )
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length >= 1)
        const late = rows.filter((row) => row.task_id === once)
        assert.strictEqual(late.length, 1)
        // Exactly on the hour, the slot of the task with `skip` is still on time.
        assert.isAtMost(rows.length, 2)
        assert.isBelow(late[0]?.lateness_ms ?? 1e9, 3_600_000 + 60_000)
      })
    )
  })
})
