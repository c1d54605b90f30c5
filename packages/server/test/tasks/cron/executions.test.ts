import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, statusAndError, signUp } from "../../support/http.ts"
import { testAppLayer, testNow as now } from "../../support/TestApp.ts"
import { setUpCron, insertExecution, insertRun, runsOf } from "./tasks.ts"

/** A slot in the past according to the database's clock, which tests cannot set. */
const slot = new Date("2026-06-01T11:00:00.000Z")

const statusesOf = (body: { readonly data: ReadonlyArray<{ readonly status: string }> }) =>
  body.data.map(({ status }) => status)

layer(testAppLayer())("executions of a cron task", (it) => {
  it.effect("are created by hand, also while the task is paused or a run is active", () =>
    Effect.gen(function* () {
      const { cron } = yield* setUpCron
      const { body: task } = yield* cron.create()
      const first = yield* cron.act(task.id, "run")
      assert.strictEqual(first.status, 202)
      const { id, scheduled_for, ...rest } = first.body
      assert.deepStrictEqual(rest, {
        kind: "cron",
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
      assert.match(scheduled_for, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual((yield* cron.get(task.id)).body, {
        ...task,
        last_run: { execution_id: id, status: "queued", finished_at: null }
      })
      assert.strictEqual((yield* cron.act(task.id, "pause")).status, 200)
      const second = yield* cron.act(task.id, "run")
      assert.strictEqual(second.status, 202)
      assert.deepStrictEqual(
        (yield* runsOf(task.id)).map(({ id, kind, trigger }) => ({ id, kind, trigger })),
        [{ id: second.body.id, kind: "cron", trigger: "manual" }]
      )
      assert.strictEqual((yield* cron.get(task.id)).body.status, "paused")
    })
  )

  it.effect("are listed newest first, page by page, and only those of the task", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      const { body: task } = yield* cron.create()
      const { body: other } = yield* cron.create()
      yield* cron.act(other.id, "run")
      const ids: Array<string> = []
      for (const ago of [3, 2, 1]) {
        ids.unshift(
          yield* insertExecution(member.workspace_id, task.id, { at: now - ago * 60_000 })
        )
      }
      ids.unshift((yield* cron.act(task.id, "run")).body.id)
      const first = yield* cron.executions(task.id, "?limit=3")
      const second = yield* cron.executions(task.id, `?limit=3&cursor=${first.body.next_cursor}`)
      assert.deepStrictEqual(
        [...first.body.data, ...second.body.data].map(({ id }) => id),
        ids
      )
      assert.deepStrictEqual(statusesOf(first.body), ["queued", "succeeded", "succeeded"])
      assert.strictEqual(second.body.next_cursor, null)
    })
  )

  it.effect("are cancelled while they are queued or running, and never once they finished", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      const { body: task } = yield* cron.create()
      const cancel = (id: string, by = member) =>
        ask("POST", `${member.workspace}/executions/${id}/cancel`, { token: by.access_token })

      const { body: queued } = yield* cron.act(task.id, "run")
      const cancelled = yield* cancel(queued.id)
      assert.strictEqual(cancelled.status, 200)
      assert.strictEqual(cancelled.body.status, "cancelled")
      assert.strictEqual(cancelled.body.id, queued.id)
      assert.deepStrictEqual(yield* runsOf(task.id), [])
      assert.deepStrictEqual((yield* cancel(queued.id)).body, cancelled.body)

      const running = yield* insertRun(member.workspace_id, task.id, {
        slot,
        now,
        state: "running"
      })
      const requested = yield* cancel(running)
      assert.strictEqual(requested.status, 200)
      assert.strictEqual(requested.body.status, "running")
      assert.isTrue((yield* runsOf(task.id))[0]?.cancel_requested)
      assert.strictEqual((yield* cancel(running)).status, 200)

      const ended = yield* insertExecution(member.workspace_id, task.id, { at: now })
      assert.strictEqual(statusAndError(yield* cancel(ended)), "409 conflict")
      const missing = yield* cancel("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41")
      assert.strictEqual(statusAndError(missing), "404 not_found")
      assert.strictEqual(missing.body.detail.resource, "execution")
      const stranger = yield* signUp()
      assert.strictEqual(statusAndError(yield* cancel(ended, stranger)), "404 not_found")
      const theirs = `${stranger.workspace}/executions/${ended}/cancel`
      const elsewhere = yield* ask("POST", theirs, { token: stranger.access_token })
      assert.strictEqual(elsewhere.body.detail.resource, "execution")
    })
  )
})
