import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { timeOfId } from "../../../src/engine/RunId.ts"
import { statusAndError } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import { setUpDelayed, finishRun, runsOf, startRun } from "./tasks.ts"

const minute = 60_000

layer(testAppLayer())("changes to a delayed task", (it) => {
  it.effect("change only the given fields, and move its run", () =>
    Effect.gen(function* () {
      const { delayed } = yield* setUpDelayed
      const { body: task } = yield* delayed.create({ name: "First", headers: { a: "1" } })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* delayed.update(task.id, {})).body, task)

      const changes = { name: null, url: "http://example.com/", body: "{}" }
      const changed = yield* delayed.update(task.id, changes)
      const expected = {
        ...task,
        ...changes,
        version: 2,
        execution_id: (yield* runsOf(task.id))[0]?.id,
        updated_at: "2026-06-01T12:01:00.000Z"
      }
      assert.deepStrictEqual(changed.body, expected)
      assert.deepStrictEqual((yield* delayed.get(task.id)).body, expected)

      for (const [due, runAt, version] of [
        [{ run_at: "2026-06-03T00:00:00Z" }, "2026-06-03T00:00:00.000Z", 3],
        [{ run_at: "2026-06-03T05:45:00+05:45" }, "2026-06-03T00:00:00.000Z", 3],
        [{ delay_seconds: 600 }, "2026-06-01T12:11:00.000Z", 4]
      ] as const) {
        const moved = yield* delayed.update(task.id, due)
        const runs = yield* runsOf(task.id)
        const execution_id = runs[0]?.id
        assert.deepStrictEqual(moved.body, { ...expected, run_at: runAt, version, execution_id })
        assert.deepStrictEqual(
          runs.map(({ id, trigger }) => [timeOfId(id), trigger]),
          [[Date.parse(runAt), "schedule"]]
        )
      }
      const due = yield* delayed.update(task.id, { delay_seconds: 0 })
      assert.strictEqual(due.body.status, "running")
      assert.strictEqual(due.body.run_at, "2026-06-01T12:01:00.000Z")
    })
  )

  it.effect("are rejected once it is not pending any more", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const make = Effect.map(delayed.create(), ({ body }) => body.id)
      const [started, finished, cancelled] = [yield* make, yield* make, yield* make]
      yield* startRun(started)
      yield* finishRun(member.workspace_id, finished, now)
      yield* delayed.remove(cancelled)
      for (const id of [started, finished, cancelled]) {
        for (const changes of [{ name: "Late" }, { delay_seconds: 7200 }]) {
          // According to this node's clock, `started` is still pending, but what matters is the
          // queue.
          const before = (yield* delayed.get(id)).body
          assert.strictEqual(statusAndError(yield* delayed.update(id, changes)), "409 conflict")
          assert.deepStrictEqual((yield* delayed.get(id)).body, before)
        }
      }
      assert.strictEqual(statusAndError(yield* delayed.remove(started)), "409 conflict")
      assert.strictEqual(statusAndError(yield* delayed.remove(finished)), "409 conflict")
      assert.strictEqual(statusAndError(yield* delayed.run(started)), "409 conflict")
      assert.strictEqual(statusAndError(yield* delayed.run(cancelled)), "409 conflict")
      yield* leap("1 hour")
      assert.strictEqual(statusAndError(yield* delayed.update(started, {})), "409 conflict")
      assert.strictEqual(statusAndError(yield* delayed.remove(started)), "409 conflict")
      assert.strictEqual(statusAndError(yield* delayed.run(started)), "409 conflict")
      assert.strictEqual((yield* runsOf(started)).length, 1)
    })
  )

  it.effect("cancel it: it stays on record, leaves no run and no execution", () =>
    Effect.gen(function* () {
      const { delayed } = yield* setUpDelayed
      const { body: task } = yield* delayed.create()
      yield* TestClock.adjust("1 minute")
      const removed = yield* delayed.remove(task.id)
      assert.strictEqual(removed.status, 204)
      assert.strictEqual(removed.text, "")
      assert.deepStrictEqual(yield* runsOf(task.id), [])
      const { body: record } = yield* delayed.get(task.id)
      assert.deepStrictEqual(record, {
        ...task,
        status: "cancelled",
        execution_id: null,
        version: 2,
        updated_at: "2026-06-01T12:01:00.000Z"
      })
      yield* leap("2 hours")
      assert.strictEqual((yield* delayed.remove(task.id)).status, 204)
      assert.deepStrictEqual((yield* delayed.get(task.id)).body, record)
    })
  )

  it.effect("run it now instead of later, and once more when it has finished", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const { body: task } = yield* delayed.create()
      yield* TestClock.adjust("10 minutes")
      const first = yield* delayed.run(task.id)
      assert.strictEqual(first.status, 202)
      const { id, scheduled_for, ...rest } = first.body
      assert.match(scheduled_for, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual(rest, {
        kind: "delayed",
        task_id: task.id,
        chain_run_id: null,
        step: null,
        flow_key: null,
        trigger: "manual",
        status: "queued",
        started_at: null,
        finished_at: null,
        lateness_ms: null,
        duration_ms: null,
        attempts_count: 0,
        status_code: null,
        error: null,
        awaiting_completion_since: null,
        waits_until: null,
        approval: null
      })
      const runs = yield* runsOf(task.id)
      assert.deepStrictEqual(
        runs.map((run) => [run.id, run.trigger, timeOfId(run.id)]),
        [[id, "manual", now + 10 * minute]]
      )
      assert.deepStrictEqual((yield* delayed.get(task.id)).body, {
        ...task,
        version: 2,
        status: "running",
        run_at: "2026-06-01T12:10:00.000Z",
        execution_id: id,
        last_run: { execution_id: id, status: "queued", finished_at: null },
        updated_at: "2026-06-01T12:10:00.000Z"
      })
      assert.strictEqual(statusAndError(yield* delayed.run(task.id)), "409 conflict")

      yield* finishRun(member.workspace_id, task.id, now + 10 * minute)
      yield* TestClock.adjust("1 minute")
      const second = yield* delayed.run(task.id)
      assert.strictEqual(second.status, 202)
      assert.strictEqual(second.body.trigger, "manual")
      const { body: again } = yield* delayed.get(task.id)
      assert.strictEqual(again.status, "running")
      assert.strictEqual(again.last_run.execution_id, second.body.id)
      assert.strictEqual(statusAndError(yield* delayed.run(task.id)), "409 conflict")
      assert.strictEqual(
        statusAndError(yield* delayed.update(task.id, { name: "x" })),
        "409 conflict"
      )
      yield* finishRun(member.workspace_id, task.id, now + 11 * minute)
      assert.strictEqual((yield* delayed.get(task.id)).body.status, "finished")
    })
  )

  it.effect("cancel the execution that is still to come, however far away", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const { body: task } = yield* delayed.create({ delay_seconds: 31_536_000 })
      const [run] = yield* runsOf(task.id)
      const cancelled = yield* delayed.cancel(run?.id ?? "")
      assert.strictEqual(cancelled.status, 200)
      assert.strictEqual(cancelled.body.status, "cancelled")
      const { body: record } = yield* delayed.get(task.id)
      assert.strictEqual(record.status, "finished")
      assert.strictEqual(record.last_run.status, "cancelled")
      assert.deepStrictEqual(yield* runsOf(task.id), [])

      // The cancelled run's id is from next year, but a later run must still count as the latest.
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        UPDATE executions
        SET finished_at = ${new Date(now)}
        WHERE id = ${cancelled.body.id}`
      assert.strictEqual((yield* delayed.run(task.id)).status, 202)
      const again = yield* finishRun(member.workspace_id, task.id, now + minute)
      for (const wait of ["5 minutes", "20 days"] as const) {
        yield* leap(wait)
        assert.strictEqual((yield* delayed.get(task.id)).body.last_run.execution_id, again)
      }
    })
  )

  it.effect("cancel the execution that is still to come, and have it run before that time", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const { body: task } = yield* delayed.create({ delay_seconds: 60 })
      const [run] = yield* runsOf(task.id)
      const { body: cancelled } = yield* delayed.cancel(run?.id ?? "")
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        UPDATE executions
        SET finished_at = ${new Date(now)}
        WHERE id = ${cancelled.id}`
      assert.strictEqual((yield* delayed.get(task.id)).body.last_run.execution_id, cancelled.id)

      assert.strictEqual((yield* delayed.run(task.id)).status, 202)
      const { body: running } = yield* delayed.list("?status=running")
      assert.deepStrictEqual(running.data, [(yield* delayed.get(task.id)).body])
      assert.strictEqual(running.data[0].status, "running")
      assert.strictEqual(running.data[0].last_run.status, "queued")

      const again = yield* finishRun(member.workspace_id, task.id, now + 1)
      for (const wait of ["1 second", "5 minutes"] as const) {
        yield* TestClock.adjust(wait)
        assert.strictEqual((yield* delayed.get(task.id)).body.last_run.execution_id, again)
      }
    })
  )

  it.effect("cancel its execution while it is queued or running, and never once it finished", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const { body: task } = yield* delayed.create({ delay_seconds: 0 })
      const { body: other } = yield* delayed.create({ delay_seconds: 0 })
      const id: string = task.last_run.execution_id
      const cancelled = yield* delayed.cancel(id)
      assert.strictEqual(cancelled.status, 200)
      assert.strictEqual(cancelled.body.status, "cancelled")
      const { body: record } = yield* delayed.get(task.id)
      assert.strictEqual(record.status, "finished")
      assert.strictEqual(record.last_run.status, "cancelled")
      assert.deepStrictEqual((yield* delayed.cancel(id)).body, cancelled.body)

      yield* startRun(other.id)
      const requested = yield* delayed.cancel(other.last_run.execution_id)
      assert.strictEqual(requested.status, 200)
      assert.strictEqual(requested.body.status, "running")
      assert.isTrue((yield* runsOf(other.id))[0]?.cancel_requested)
      const ended = yield* finishRun(member.workspace_id, other.id, now)
      assert.strictEqual(statusAndError(yield* delayed.cancel(ended)), "409 conflict")
    })
  )
})
