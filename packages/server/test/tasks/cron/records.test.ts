import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ask, createKey, logIn, statusAndError, signUp } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { setUpCron, cronClientOf, insertExecution, insertRun, minimalCron } from "./tasks.ts"

const day = 86_400_000

layer(testAppLayer())("cron task records", (it) => {
  it.effect("has every field, with defaults for those that were left out", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      const created = yield* cron.create()
      assert.strictEqual(created.status, 201)
      const { id, ...rest } = created.body
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.deepStrictEqual(rest, {
        workspace_id: member.workspace_id,
        key: null,
        name: "Nightly report",
        schedule: "0 3 * * *",
        method: "POST",
        url: "https://api.example.com/jobs/nightly",
        headers: {},
        body: null,
        timeout_seconds: 30,
        retry_count: 0,
        run_on: null,
        worker_wait_seconds: 300,
        priority: 0,
        queue_id: null,
        queue_key: null,
        flow: null,
        tags: [],
        depends_on: [],
        version: 1,
        body_contains: null,
        body_lacks: null,
        completion: null,
        auth: null,
        on_failure: null,
        on_success: null,
        retry: null,
        success_codes: null,
        ends_at: null,
        excluded_calendar: null,
        excluded_days: [],
        jitter_seconds: 0,
        on_pause: "cancel",
        pause_after_failures: null,
        paused: false,
        paused_reason: null,
        precision: "minute",
        starts_at: null,
        timezone: "UTC",
        overlap: "skip",
        missed: "once",
        every: null,
        anchor: null,
        dst_overlap: "first",
        status: "active",
        next_run_at: "2026-06-02T03:00:00.000Z",
        last_run: null,
        created_by: created.body.created_by,
        updated_by: created.body.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z"
      })
      assert.deepStrictEqual((yield* cron.get(id)).body, created.body)
      assert.deepStrictEqual((yield* cron.list()).body, {
        data: [created.body],
        next_cursor: null,
        total: null
      })
      const everywhere = yield* ask("GET", "/v1/cron-tasks", { token: member.access_token })
      assert.deepStrictEqual(everywhere.body, {
        data: [created.body],
        next_cursor: null,
        total: null
      })
    })
  )

  it.effect("keeps the given values, and normalizes the name and the schedule", () =>
    Effect.gen(function* () {
      const { cron, member } = yield* setUpCron
      const given = {
        url: "https://api.example.com/jobs?full=1",
        method: "PUT",
        headers: { authorization: "Bearer 3f9c", "X-Env": "production" },
        body: '{"full":true,"naïve":"é 🎉"}',
        timeout_seconds: 900,
        retry_count: 10,
        run_on: { labels: ["office", "gpu"] },
        worker_wait_seconds: 0,
        priority: 50,
        timezone: "Europe/Berlin",
        overlap: "queue",
        missed: "skip",
        dst_overlap: "both"
      }
      const { body } = yield* cron.create({
        ...given,
        name: "  Weekly  ",
        schedule: " 30  9 * *   MON-FRI "
      })
      const { id, workspace_id, ...rest } = body
      assert.strictEqual(workspace_id, member.workspace_id)
      assert.deepStrictEqual(rest, {
        ...given,
        headers: { authorization: "•••", "X-Env": "production" },
        key: null,
        queue_id: null,
        queue_key: null,
        flow: null,
        tags: [],
        depends_on: [],
        version: 1,
        body_contains: null,
        body_lacks: null,
        completion: null,
        anchor: null,
        auth: null,
        every: null,
        on_failure: null,
        on_success: null,
        retry: null,
        success_codes: null,
        ends_at: null,
        excluded_calendar: null,
        excluded_days: [],
        jitter_seconds: 0,
        on_pause: "cancel",
        pause_after_failures: null,
        paused: false,
        paused_reason: null,
        precision: "minute",
        starts_at: null,
        name: "Weekly",
        schedule: "30 9 * * MON-FRI",
        status: "active",
        next_run_at: "2026-06-02T07:30:00.000Z",
        last_run: null,
        created_by: body.created_by,
        updated_by: body.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z"
      })
      assert.deepStrictEqual((yield* cron.get(id)).body, body)
    })
  )

  it.effect("shows the latest execution: recent, long ago, or one that continues", () =>
    Effect.gen(function* () {
      const { member: earlier } = yield* setUpCron
      const { body: task } = yield* cronClientOf(earlier).create()
      const { body: other } = yield* cronClientOf(earlier).create({ name: "Never ran" })
      yield* leap("40 days")
      const now = testNow + 40 * day
      const { body: tokens } = yield* logIn(earlier.email)
      const member = { ...earlier, access_token: tokens.access_token }
      const cron = cronClientOf(member)

      const lastRuns = Effect.gen(function* () {
        const got = (yield* cron.get(task.id)).body.last_run
        const listed = (yield* cron.list()).body.data
        const everywhere = yield* ask("GET", "/v1/cron-tasks", { token: member.access_token })
        assert.deepStrictEqual(
          listed.map((row: { last_run: unknown }) => row.last_run),
          [null, got]
        )
        assert.deepStrictEqual(everywhere.body.data, listed)
        return got
      })

      const old = yield* insertExecution(member.workspace_id, task.id, {
        at: testNow + day,
        status: "failed"
      })
      assert.deepStrictEqual(yield* lastRuns, {
        execution_id: old,
        status: "failed",
        finished_at: "2026-06-02T12:00:00.000Z"
      })

      const recent = yield* insertExecution(member.workspace_id, task.id, { at: now - day / 2 })
      yield* insertExecution(member.workspace_id, task.id, { at: now - day, status: "failed" })
      assert.deepStrictEqual(yield* lastRuns, {
        execution_id: recent,
        status: "succeeded",
        finished_at: "2026-07-11T00:00:00.000Z"
      })

      const running = yield* insertRun(member.workspace_id, task.id, {
        slot: new Date(now),
        now,
        state: "running"
      })
      assert.deepStrictEqual(yield* lastRuns, {
        execution_id: running,
        status: "running",
        finished_at: null
      })
      assert.strictEqual((yield* cron.get(other.id)).body.last_run, null)
    })
  )

  it.effect("lists all workspaces of a user, and of an API key only its own", () =>
    Effect.gen(function* () {
      const { member } = yield* setUpCron
      const second = yield* ask("POST", "/v1/workspaces", {
        token: member.access_token,
        body: { name: "Second" }
      })
      const other = { ...member, workspace: `/v1/workspaces/${second.body.id}` }
      const ids: Array<string> = []
      for (const owner of [member, other, member, other]) {
        yield* TestClock.adjust(1)
        ids.unshift((yield* cronClientOf(owner).create()).body.id)
      }
      yield* cronClientOf(yield* signUp()).create()
      const listAll = (token: string, query = "") => ask("GET", `/v1/cron-tasks${query}`, { token })
      const idsOf = (page: { data: ReadonlyArray<{ id: string }> }) => page.data.map(({ id }) => id)

      const first = yield* listAll(member.access_token, "?limit=3")
      assert.deepStrictEqual(idsOf(first.body), ids.slice(0, 3))
      const rest = yield* listAll(member.access_token, `?limit=3&cursor=${first.body.next_cursor}`)
      assert.deepStrictEqual(idsOf(rest.body), ids.slice(3))
      assert.strictEqual(rest.body.next_cursor, null)

      const { key } = yield* createKey(other, { scopes: ["tasks:read"] })
      assert.deepStrictEqual(idsOf((yield* listAll(key)).body), [ids[0], ids[2]])
      const filtered = yield* listAll(key, `?name=${minimalCron.name.slice(0, 3)}&status=paused`)
      assert.deepStrictEqual(filtered.body.data, [])
      const blind = yield* createKey(other, { scopes: ["executions:read"] })
      assert.strictEqual(statusAndError(yield* listAll(blind.key)), "403 insufficient_scope")
    })
  )
})
