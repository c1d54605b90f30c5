import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { timeOfId } from "../../../src/engine/RunId.ts"
import { type Answer } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { setUpDelayed, finishRun, minimalDelayed, runsOf, startRun } from "./tasks.ts"

const hour = 3_600_000

layer(testAppLayer())("delayed task records", (it) => {
  it.effect("has every field, with defaults for those that were left out, and a run to come", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const created = yield* delayed.create()
      assert.strictEqual(created.status, 201)
      const { id, ...rest } = created.body
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.deepStrictEqual(rest, {
        workspace_id: member.workspace_id,
        key: null,
        name: null,
        url: minimalDelayed.url,
        method: "POST",
        headers: {},
        body: null,
        timeout_seconds: 30,
        retry_count: 0,
        run_on: null,
        priority: 0,
        worker_wait_seconds: 300,
        queue_id: null,
        queue_key: null,
        flow: null,
        tags: [],
        version: 1,
        body_contains: null,
        body_lacks: null,
        completion: null,
        auth: null,
        on_failure: null,
        on_success: null,
        retry: null,
        success_codes: null,
        status: "pending",
        run_at: "2026-06-01T13:00:00.000Z",
        execution_id: created.body.execution_id,
        last_run: null,
        created_by: created.body.created_by,
        updated_by: created.body.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z"
      })
      assert.deepStrictEqual((yield* delayed.get(id)).body, created.body)
      assert.deepStrictEqual((yield* delayed.list()).body, {
        data: [created.body],
        next_cursor: null,
        total: null
      })
      const [run, ...others] = yield* runsOf(id)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(run?.id, created.body.execution_id)
      assert.strictEqual(run?.kind, "delayed")
      assert.strictEqual(run?.trigger, "schedule")
      assert.strictEqual(timeOfId(run?.id ?? ""), testNow + hour)
    })
  )

  it.effect("keeps the given values, up to a year ahead", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const given = {
        url: "http://example.com/",
        method: "PATCH",
        headers: { "X-Env": "production" },
        body: "",
        timeout_seconds: 1,
        retry_count: 10,
        run_on: { labels: ["office"] },
        worker_wait_seconds: 86_400
      }
      const { body } = yield* delayed.post({
        ...given,
        priority: 0,
        name: " Trial ends ",
        run_at: "2027-06-01T12:00:00Z"
      })
      const { id, workspace_id, ...rest } = body
      assert.strictEqual(workspace_id, member.workspace_id)
      assert.deepStrictEqual(rest, {
        ...given,
        priority: 0,
        key: null,
        queue_id: null,
        queue_key: null,
        flow: null,
        tags: [],
        version: 1,
        body_contains: null,
        body_lacks: null,
        completion: null,
        auth: null,
        on_failure: null,
        on_success: null,
        retry: null,
        success_codes: null,
        name: "Trial ends",
        status: "pending",
        run_at: "2027-06-01T12:00:00.000Z",
        execution_id: body.execution_id,
        last_run: null,
        created_by: body.created_by,
        updated_by: body.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z"
      })
      assert.deepStrictEqual((yield* delayed.get(id)).body, body)
      const longest = yield* delayed.create({ delay_seconds: 31_536_000 })
      assert.strictEqual(longest.body.run_at, "2027-06-01T12:00:00.000Z")
    })
  )

  it.effect("runs immediately if the time has passed", () =>
    Effect.gen(function* () {
      const { delayed } = yield* setUpDelayed
      for (const due of [
        { run_at: "2020-01-01T00:00:00Z" },
        { run_at: "2026-06-01T12:00:00Z" },
        { delay_seconds: 0 }
      ]) {
        const { body: task } = yield* delayed.post({ url: minimalDelayed.url, ...due })
        assert.strictEqual(task.run_at, "2026-06-01T12:00:00.000Z")
        assert.strictEqual(task.status, "running")
        const [run] = yield* runsOf(task.id)
        const queued = { execution_id: run?.id, status: "queued", finished_at: null }
        assert.deepStrictEqual(task.last_run, queued)
        assert.deepStrictEqual((yield* delayed.get(task.id)).body, task)
      }
    })
  )

  it.effect("goes from pending to running to finished, and keeps its result", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const { body: task } = yield* delayed.create()
      const [run] = yield* runsOf(task.id)
      const shown = Effect.gen(function* () {
        const { body } = yield* delayed.get(task.id)
        assert.deepStrictEqual((yield* delayed.list()).body.data, [body])
        const { last_run, status } = body
        const execution_id = last_run?.execution_id ?? task.execution_id
        assert.deepStrictEqual(body, { ...task, execution_id, last_run, status })
        return [status, last_run]
      })
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual(yield* shown, ["pending", null])
      yield* TestClock.adjust("1 minute")
      const queued = { execution_id: run?.id, status: "queued", finished_at: null }
      assert.deepStrictEqual(yield* shown, ["running", queued])
      yield* startRun(task.id)
      assert.deepStrictEqual(yield* shown, ["running", { ...queued, status: "running" }])
      const id = yield* finishRun(member.workspace_id, task.id, testNow + hour)
      const succeeded = {
        execution_id: id,
        status: "succeeded",
        finished_at: "2026-06-01T13:00:00.000Z"
      }
      assert.deepStrictEqual(yield* shown, ["finished", succeeded])
      yield* leap("20 days")
      assert.deepStrictEqual(yield* shown, ["finished", succeeded])
    })
  )

  it.effect("lists the newest first, page by page, by status and by a part of the name", () =>
    Effect.gen(function* () {
      const { delayed, member } = yield* setUpDelayed
      const ids: Array<string> = []
      for (const name of ["Pending 1", "Pending_2", "Running", "Finished", "Once more", "Gone"]) {
        yield* TestClock.adjust(1)
        const delay_seconds = name === "Running" ? 0 : 3600
        ids.unshift((yield* delayed.create({ name, delay_seconds })).body.id)
      }
      const [gone = "", again = "", finished = ""] = ids
      yield* delayed.remove(gone)
      yield* finishRun(member.workspace_id, finished, testNow)
      yield* finishRun(member.workspace_id, again, testNow)
      assert.strictEqual((yield* delayed.run(again)).status, 202)

      const seen: Array<string> = []
      let cursor: string | null = null
      do {
        const page: Answer = yield* delayed.list(
          `?limit=4${cursor === null ? "" : `&cursor=${cursor}`}`
        )
        seen.push(...page.body.data.map((task: { id: string }) => task.id))
        cursor = page.body.next_cursor
      } while (cursor !== null)
      assert.deepStrictEqual(seen, ids)

      const names = (query: Record<string, string>) =>
        Effect.map(delayed.list(`?${new URLSearchParams(query)}`), ({ body }) =>
          body.data.map((task: { name: string; status: string }) => {
            if (query["status"] !== undefined) assert.strictEqual(task.status, query["status"])
            return task.name
          })
        )
      assert.deepStrictEqual(yield* names({ status: "pending" }), ["Pending_2", "Pending 1"])
      assert.deepStrictEqual(yield* names({ status: "running" }), ["Once more", "Running"])
      assert.deepStrictEqual(yield* names({ status: "finished" }), ["Finished"])
      assert.deepStrictEqual(yield* names({ status: "cancelled" }), ["Gone"])
      assert.deepStrictEqual(yield* names({ name: "pend" }), ["Pending_2", "Pending 1"])
      assert.deepStrictEqual(yield* names({ name: "G_" }), ["Pending_2"])
      assert.deepStrictEqual(yield* names({ name: "ING", status: "running" }), ["Running"])
    })
  )
})
