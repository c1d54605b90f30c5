import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { statusAndError } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import { setUpCron, insertExecution, insertRun, runsOf } from "./tasks.ts"

/** Slots in the past and the future of the database's clock, which tests cannot set. */
const slot = new Date("2026-06-01T11:00:00.000Z")
const slotToCome = new Date("2126-06-01T12:00:00.000Z")

layer(testAppLayer())("changes to a cron task", (it) => {
  it.effect("change only the given fields", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const { body: task } = yield* cron.create({ headers: { a: "1", c: "3" }, body: "{}" })
      yield* TestClock.adjust("1 minute")
      const untouched = yield* cron.update(task.id, {})
      assert.strictEqual(untouched.status, 200)
      assert.deepStrictEqual(untouched.body, task)

      const changes = {
        url: "http://example.com/",
        headers: { a: null, b: "2" },
        body: null,
        retry_count: 2
      }
      const changed = yield* cron.update(task.id, changes)
      const expected = {
        ...task,
        ...changes,
        headers: { b: "2", c: "3" },
        version: 2,
        updated_at: "2026-06-01T12:01:00.000Z"
      }
      assert.deepStrictEqual(changed.body, expected)
      assert.deepStrictEqual((yield* cron.get(task.id)).body, expected)
    })
  )

  it.effect("may give a timeout of more than 900 s only with a completion", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const { body: task } = yield* cron.create({ completion: "callback", timeout_seconds: 3_600 })
      assert.deepInclude(task, { completion: "callback", timeout_seconds: 3_600 })
      const refused = yield* cron.update(task.id, { completion: null })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      assert.deepStrictEqual(refused.body.detail.issues[0].path, ["timeout_seconds"])
      const plain = yield* cron.update(task.id, { completion: null, timeout_seconds: 900 })
      assert.isNull(plain.body.completion)
      assert.strictEqual(
        statusAndError(yield* cron.update(task.id, { timeout_seconds: 901 })),
        "422 validation_failed"
      )
      const again = yield* cron.update(task.id, { timeout_seconds: 901, completion: "auto" })
      assert.deepInclude(again.body, { completion: "auto", timeout_seconds: 901 })
    })
  )

  it.effect("compute the next firing anew where the schedule, zone or overlap rule changes", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const { body: task } = yield* cron.create()
      const nextAfter = (changes: object) =>
        Effect.map(cron.update(task.id, changes), ({ body }) => body.next_run_at)
      assert.strictEqual(yield* nextAfter({ schedule: "0 4 * * *" }), "2026-06-02T04:00:00.000Z")
      assert.strictEqual(yield* nextAfter({ timezone: "Asia/Tokyo" }), "2026-06-01T19:00:00.000Z")
      yield* leap("8 hours")
      // The slot at 19:00 has not fired yet, and an update that keeps the schedule must not lose
      // it.
      assert.strictEqual(yield* nextAfter({ name: "Renamed" }), "2026-06-01T19:00:00.000Z")
      assert.strictEqual(
        yield* nextAfter({ schedule: "0 4 * * *", timezone: "Asia/Tokyo" }),
        "2026-06-01T19:00:00.000Z"
      )
      assert.strictEqual(yield* nextAfter({ dst_overlap: "both" }), "2026-06-02T19:00:00.000Z")
    })
  )

  it.effect("withdraw only runs that the old schedule fired ahead", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      const { body: task } = yield* cron.create()
      const due = yield* insertRun(member.workspace_id, task.id, { slot, now })
      yield* insertRun(member.workspace_id, task.id, { slot: slotToCome, now })
      yield* cron.update(task.id, { name: "Renamed" })
      assert.strictEqual((yield* runsOf(task.id)).length, 2)
      yield* cron.update(task.id, { schedule: "0 4 * * *" })
      assert.deepStrictEqual(
        (yield* runsOf(task.id)).map(({ id }) => id),
        [due]
      )
    })
  )

  it.effect(
    "pause it: nothing fires, queued runs are cancelled, and running calls are aborted",
    () =>
      Effect.gen(function* () {
        const { cron, member } = yield* setUpCron
        const { body: task } = yield* cron.create()
        const running = yield* insertRun(member.workspace_id, task.id, {
          slot,
          now,
          state: "running"
        })
        const queued = yield* insertRun(member.workspace_id, task.id, {
          slot: new Date(slot.getTime() + 60_000),
          now
        })
        yield* insertRun(member.workspace_id, task.id, { slot: slotToCome, now })
        yield* TestClock.adjust("1 minute")
        const paused = yield* cron.act(task.id, "pause")
        assert.strictEqual(paused.status, 200)
        assert.deepStrictEqual(paused.body, {
          ...task,
          version: 2,
          paused: true,
          status: "paused",
          next_run_at: null,
          last_run: paused.body.last_run,
          updated_at: "2026-06-01T12:01:00.000Z"
        })
        assert.deepStrictEqual(
          (yield* runsOf(task.id)).map(({ cancel_requested, id }) => ({ cancel_requested, id })),
          [{ cancel_requested: true, id: running }]
        )
        const { body: history } = yield* cron.executions(task.id)
        assert.deepStrictEqual(
          history.data.map(({ id, status }: { id: string; status: string }) => ({ id, status })),
          [
            { id: queued, status: "cancelled" },
            { id: running, status: "running" }
          ]
        )

        yield* TestClock.adjust("1 minute")
        const again = yield* cron.act(task.id, "pause")
        assert.deepStrictEqual(again.body, paused.body)
        const changed = yield* cron.update(task.id, { schedule: "0 4 * * *" })
        assert.strictEqual(changed.body.next_run_at, null)
        assert.strictEqual(changed.body.status, "paused")
      })
  )

  it.effect("resume it: it fires from now on, and missed slots are not made up for", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const { body: task } = yield* cron.create({ schedule: "0 * * * *" })
      yield* cron.act(task.id, "pause")
      yield* leap("150 minutes")
      const resumed = yield* cron.act(task.id, "resume")
      assert.strictEqual(resumed.status, 200)
      assert.strictEqual(resumed.body.status, "active")
      assert.strictEqual(resumed.body.next_run_at, "2026-06-01T15:00:00.000Z")
      const again = yield* cron.act(task.id, "resume")
      assert.deepStrictEqual(again.body, resumed.body)
      assert.deepStrictEqual((yield* cron.get(task.id)).body, resumed.body)
    })
  )

  it.effect("delete it: its runs are cancelled and its history stays", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      const { body: task } = yield* cron.create()
      yield* insertExecution(member.workspace_id, task.id, { at: now - 60_000 })
      const running = yield* insertRun(member.workspace_id, task.id, {
        slot,
        now,
        state: "running"
      })
      yield* cron.act(task.id, "run")
      const removed = yield* cron.remove(task.id)
      assert.strictEqual(removed.status, 204)
      assert.strictEqual(removed.text, "")
      assert.deepStrictEqual(
        (yield* runsOf(task.id)).map(({ cancel_requested, id }) => ({ cancel_requested, id })),
        [{ cancel_requested: true, id: running }]
      )
      for (const answer of [
        yield* cron.get(task.id),
        yield* cron.update(task.id, { name: "Too late" }),
        yield* cron.remove(task.id),
        yield* cron.act(task.id, "run"),
        yield* cron.act(task.id, "pause"),
        yield* cron.act(task.id, "resume"),
        yield* cron.executions(task.id)
      ]) {
        assert.strictEqual(statusAndError(answer), "404 not_found")
        assert.strictEqual(answer.body.detail.resource, "task")
      }
      assert.deepStrictEqual((yield* cron.list()).body.data, [])
    })
  )
})
