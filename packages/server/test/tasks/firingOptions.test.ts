import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { setUpChains, minimalChain as chain } from "./chains/chains.ts"
import { setUpCron, cronClientOf, insertRun, minimalCron as cron, runsOf } from "./cron/tasks.ts"
import { ask, statusAndError } from "../support/http.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"

/** The tasks fire at 03:00, and today is 1 June 2026. */
const kinds = [
  { kind: "cron", definition: cron },
  { kind: "chains", definition: { ...chain, schedule: "0 3 * * *" } }
] as const

const options = {
  precision: "second",
  jitter_seconds: 600,
  starts_at: "2026-06-03T00:00:00Z",
  ends_at: "2026-06-30T00:00:00Z",
  excluded_days: ["2026-06-03", "2026-06-04"],
  on_pause: "finish",
  pause_after_failures: 5
}

const nothing = {
  precision: "minute",
  jitter_seconds: 0,
  starts_at: null,
  ends_at: null,
  excluded_days: [],
  on_pause: "cancel",
  pause_after_failures: null
}

const lacksAll = (task: object) => {
  assert.deepInclude(task, { ...nothing, paused_reason: null })
}

const start = Effect.gen(function* () {
  yield* setUpChains
  const { key: token, member } = yield* setUpCron
  const at = (kind: string) => `${member.workspace}/${kind}`
  return {
    member,
    cron: cronClientOf({ ...member, access_token: token }),
    create: (kind: string, body: object) => ask("POST", at(kind), { token, body }),
    change: (kind: string, id: string, body: object) =>
      ask("PATCH", `${at(kind)}/${id}`, { token, body }),
    put: (kind: string, body: object) => ask("PUT", `${at(kind)}/by-key/one`, { token, body }),
    get: (kind: string, id: string) => ask("GET", `${at(kind)}/${id}`, { token }),
    act: (kind: string, id: string, action: string) =>
      ask("POST", `${at(kind)}/${id}/${action}`, { token })
  }
})

layer(testAppLayer())("the options of a schedule", (it) => {
  it.effect.each(kinds)("are shown as they were set: $kind", ({ definition, kind }) =>
    Effect.gen(function* () {
      const tasks = yield* start
      const made = yield* tasks.create(kind, { ...definition, ...options })
      assert.strictEqual(made.status, 201)
      assert.deepInclude(made.body, options)
      const late = Date.parse(made.body.next_run_at) - Date.parse("2026-06-05T03:00:00.000Z")
      assert.isAtLeast(late, 0)
      assert.isBelow(late, 600_000)
      assert.deepStrictEqual((yield* tasks.get(kind, made.body.id)).body, made.body)
      lacksAll((yield* tasks.create(kind, { ...definition, ...nothing })).body)
    })
  )

  it.effect.each(kinds)(
    "are unchanged by an equal PUT, and removed if left out: $kind",
    ({ definition, kind }) =>
      Effect.gen(function* () {
        const tasks = yield* start
        const made = yield* tasks.put(kind, { ...definition, ...options })
        assert.strictEqual(made.status, 201)
        yield* TestClock.adjust("1 minute")
        const again = yield* tasks.put(kind, { ...definition, ...options })
        assert.deepStrictEqual(again.body, made.body)
        const bare = yield* tasks.put(kind, definition)
        lacksAll(bare.body)
        assert.strictEqual(bare.body.next_run_at, "2026-06-02T03:00:00.000Z")
      })
  )

  it.effect.each(kinds)("change one by one, and the next firing with them: $kind", (given) =>
    Effect.gen(function* () {
      const { definition, kind } = given
      const tasks = yield* start
      const { body: task } = yield* tasks.create(kind, definition)
      const next = (changes: object) =>
        Effect.map(tasks.change(kind, task.id, changes), ({ body }) => body.next_run_at)
      assert.strictEqual(yield* next({ excluded_days: ["2026-06-02"] }), "2026-06-03T03:00:00.000Z")
      // Excluded dates are in the task's time zone. In Tokyo it is noon.
      assert.strictEqual(yield* next({ timezone: "Asia/Tokyo" }), "2026-06-02T18:00:00.000Z")
      assert.strictEqual(yield* next({ timezone: "UTC" }), "2026-06-03T03:00:00.000Z")
      const starts_at = "2026-07-01T03:00:00Z"
      assert.strictEqual(yield* next({ starts_at }), "2026-07-01T03:00:00.000Z")
      assert.strictEqual(yield* next({ excluded_days: null }), "2026-07-01T03:00:00.000Z")
      assert.isNull(yield* next({ starts_at: null, ends_at: "2026-06-02T02:59:59Z" }))
      const ended = (yield* tasks.get(kind, task.id)).body
      assert.deepInclude(ended, { status: "active", ends_at: "2026-06-02T02:59:59Z" })
      assert.strictEqual(yield* next({ ends_at: null }), "2026-06-02T03:00:00.000Z")
      assert.strictEqual(yield* next({ pause_after_failures: 1 }), "2026-06-02T03:00:00.000Z")
    })
  )

  it.effect.each(kinds)("are rejected where they are wrong: $kind", ({ definition, kind }) =>
    Effect.gen(function* () {
      const tasks = yield* start
      const wrong: ReadonlyArray<readonly [object, ReadonlyArray<unknown>]> = [
        [{ precision: "hour" }, ["precision"]],
        [{ schedule: "*/4 * * * * *", precision: "second" }, ["schedule"]],
        [{ jitter_seconds: -1 }, ["jitter_seconds"]],
        [{ jitter_seconds: 3_601 }, ["jitter_seconds"]],
        [{ starts_at: "tomorrow" }, ["starts_at"]],
        [{ ends_at: "2026-06-31T00:00:00Z" }, ["ends_at"]],
        [{ excluded_days: ["2026-02-29"] }, ["excluded_days", 0]],
        [{ excluded_days: ["24.12.2026"] }, ["excluded_days", 0]],
        [{ on_pause: "wait" }, ["on_pause"]],
        [{ pause_after_failures: 0 }, ["pause_after_failures"]],
        [{ pause_after_failures: 101 }, ["pause_after_failures"]],
        [{ paused_reason: "because" }, ["paused_reason"]],
        [{ starts_at: options.ends_at, ends_at: options.starts_at }, ["ends_at"]]
      ]
      for (const [fields, path] of wrong) {
        const answer = yield* tasks.create(kind, { ...definition, ...fields })
        assert.strictEqual(statusAndError(answer), "422 validation_failed", JSON.stringify(fields))
        assert.deepStrictEqual(answer.body.detail.issues[0].path, path)
      }
      const { body: task } = yield* tasks.create(kind, { ...definition, ...options })
      const backwards = yield* tasks.change(kind, task.id, { starts_at: "2026-07-01T00:00:00Z" })
      assert.strictEqual(statusAndError(backwards), "422 validation_failed")
      assert.deepStrictEqual((yield* tasks.get(kind, task.id)).body, task)
    })
  )

  it.effect.each(kinds)("allow seconds only with precision: $kind", ({ definition, kind }) =>
    Effect.gen(function* () {
      const tasks = yield* start
      const seconds = { ...definition, schedule: "*/5 * * * * *" }
      const refused = yield* tasks.create(kind, seconds)
      const expected = [
        {
          path: ["schedule"],
          code: "invalid",
          message:
            "schedule is not valid: expected 5 fields (minute hour day-of-month month day-of-week), got 6: a field of seconds " +
            'needs `precision: "second"`.'
        }
      ]
      assert.deepStrictEqual(refused.body.detail.issues, expected)
      const made = yield* tasks.create(kind, { ...seconds, precision: "second" })
      assert.deepInclude(made.body, { schedule: "*/5 * * * * *", precision: "second" })
      assert.strictEqual(made.body.next_run_at, "2026-06-01T12:00:05.000Z")
      const back = yield* tasks.change(kind, made.body.id, { precision: null })
      assert.deepStrictEqual(back.body.detail.issues, expected)
      const bare = { schedule: "@hourly", precision: null }
      const changed = yield* tasks.change(kind, made.body.id, bare)
      assert.strictEqual(changed.body.next_run_at, "2026-06-01T13:00:00.000Z")
      assert.strictEqual(changed.body.precision, "minute")
      const again = { schedule: "30 0 3 * * *", precision: "second" }
      const { body } = yield* tasks.change(kind, made.body.id, again)
      assert.strictEqual(body.next_run_at, "2026-06-02T03:00:30.000Z")
      const other = yield* tasks.change(kind, made.body.id, { schedule: "45 0 3 * * *" })
      assert.strictEqual(other.body.next_run_at, "2026-06-02T03:00:45.000Z")
    })
  )

  it.effect("let started runs finish when the task is paused", () =>
    Effect.gen(function* () {
      const tasks = yield* start
      const { body: task } = yield* tasks.create("cron", { ...cron, on_pause: "finish" })
      const now = testNow
      const slot = new Date("2026-06-01T11:00:00.000Z")
      const running = { slot, now, state: "running" as const }
      const run = yield* insertRun(tasks.member.workspace_id, task.id, running)
      const toCome = new Date("2126-06-01T12:00:00.000Z")
      yield* insertRun(tasks.member.workspace_id, task.id, { slot: toCome, now })
      const paused = yield* tasks.act("cron", task.id, "pause")
      assert.deepInclude(paused.body, { status: "paused", next_run_at: null, on_pause: "finish" })
      assert.isNull(paused.body.paused_reason)
      assert.deepStrictEqual(
        (yield* runsOf(task.id)).map(({ cancel_requested, id }) => ({ cancel_requested, id })),
        [{ cancel_requested: false, id: run }]
      )
    })
  )

  it.effect("have the reason why the service paused the task, until it is resumed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tasks = yield* start
      const { body: task } = yield* tasks.create("cron", { ...cron, pause_after_failures: 5 })
      // Pauses the task as the engine would. Separate tests cover the engine's pause.
      const paused_reason = "it failed 5 times in a row"
      yield* sql`
        UPDATE tasks
        SET status = 'paused', next_fire_at = NULL, paused_reason = ${paused_reason}
        WHERE id = ${task.id}`
      assert.deepInclude((yield* tasks.get("cron", task.id)).body, {
        status: "paused",
        paused_reason
      })
      const resumed = yield* tasks.act("cron", task.id, "resume")
      assert.deepInclude(resumed.body, { status: "active", pause_after_failures: 5 })
      assert.isNull(resumed.body.paused_reason)
    })
  )

  it.effect("are shown by the preview", () =>
    Effect.gen(function* () {
      const tasks = yield* start
      const query = { schedule: "0 3 * * *", count: "3", excluded_days: "2026-06-03,2026-06-04" }
      const bounds = { starts_at: "2026-06-02T12:00:00Z", ends_at: "2026-06-06T03:00:00Z" }
      const { body } = yield* tasks.cron.preview({ ...query, ...bounds })
      assert.deepStrictEqual(
        body.data.map(({ at, excluded }: Record<string, unknown>) => [at, excluded]),
        [
          ["2026-06-03T03:00:00.000Z", true],
          ["2026-06-04T03:00:00.000Z", true],
          ["2026-06-05T03:00:00.000Z", false],
          ["2026-06-06T03:00:00.000Z", false]
        ]
      )
      const schedule = "*/20 0 3 * * *"
      const precise = yield* tasks.cron.preview({ schedule, precision: "second", count: "2" })
      assert.deepStrictEqual(
        precise.body.data.map(({ at }: { readonly at: string }) => at),
        ["2026-06-02T03:00:00.000Z", "2026-06-02T03:00:20.000Z"]
      )
      for (const [field, value] of [
        ["schedule", schedule],
        ["excluded_days", "2026-06-31"],
        ["excluded_days", "2026-06-03,"],
        ["starts_at", "soon"]
      ] as const) {
        const refused = yield* tasks.cron.preview({ ...query, [field]: value })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.deepStrictEqual(refused.body.detail.issues[0].path, [field])
      }
    })
  )
})
