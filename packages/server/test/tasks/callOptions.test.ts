import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { setUpChains } from "./chains/chains.ts"
import { setUpCron } from "./cron/tasks.ts"
import { ask, statusAndError } from "../support/http.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"

type Body = Awaited<ReturnType<typeof JSON.parse>>

const url = "https://api.example.com/jobs"

/** The position of a call in each task kind's requests and responses. */
const kinds = [
  {
    kind: "cron",
    withCall: (call: object) => ({ name: "Nightly", schedule: "0 3 * * *", url, ...call }),
    callOf: (body: Body) => body,
    path: [],
    field: ""
  },
  {
    kind: "delayed",
    withCall: (call: object) => ({
      run_at: new Date(testNow + 86_400_000).toISOString(),
      url,
      ...call
    }),
    callOf: (body: Body) => body,
    path: [],
    field: ""
  },
  {
    kind: "chains",
    withCall: (call: object) => ({ name: "Close", steps: [{ name: "one", url, ...call }] }),
    callOf: (body: Body) => body.steps[0],
    path: ["steps", 0],
    field: "steps[0]."
  }
] as const

const rule = { success_codes: ["200-299", "404"], body_contains: '"ok"', body_lacks: "error" }

const start = Effect.gen(function* () {
  yield* setUpChains
  const { key: token, member } = yield* setUpCron
  return {
    create: (kind: string, body: object) =>
      ask("POST", `${member.workspace}/${kind}`, { token, body }),
    change: (kind: string, id: string, body: object) =>
      ask("PATCH", `${member.workspace}/${kind}/${id}`, { token, body }),
    put: (kind: string, body: object) =>
      ask("PUT", `${member.workspace}/${kind}/by-key/one`, { token, body }),
    get: (kind: string, id: string) => ask("GET", `${member.workspace}/${kind}/${id}`, { token })
  }
})

layer(testAppLayer())("the options of a call", (it) => {
  it.effect.each(kinds)("are shown as they were set: $kind", ({ callOf, kind, withCall }) =>
    Effect.gen(function* () {
      const tasks = yield* start
      const made = yield* tasks.create(kind, withCall({ ...rule, retry: { count: 4 } }))
      assert.strictEqual(made.status, 201)
      assert.deepInclude(callOf(made.body), {
        ...rule,
        retry_count: 4,
        retry: { count: 4, first_seconds: 1, factor: 2, max_seconds: 3_600 }
      })
      assert.deepStrictEqual((yield* tasks.get(kind, made.body.id)).body, made.body)
      const plain = yield* tasks.create(kind, withCall({ ...nothing, retry_count: 2 }))
      lacksAll(callOf(plain.body))
      assert.strictEqual(callOf(plain.body).retry_count, 2)
    })
  )

  it.effect.each(kinds)(
    "are unchanged by an equal PUT, and removed if left out: $kind",
    ({ callOf, kind, withCall }) =>
      Effect.gen(function* () {
        const tasks = yield* start
        const definition = withCall({ ...rule, retry: { count: 4, factor: 1.5 } })
        const made = yield* tasks.put(kind, definition)
        assert.strictEqual(made.status, 201)
        const again = yield* tasks.put(kind, definition)
        assert.deepStrictEqual(again.body, made.body)
        const bare = yield* tasks.put(kind, withCall({}))
        lacksAll(callOf(bare.body))
        assert.strictEqual(callOf(bare.body).retry_count, 0)
      })
  )

  it.effect.each(kinds)(
    "must not contradict retry_count: $kind",
    ({ callOf, field, kind, path, withCall }) =>
      Effect.gen(function* () {
        const tasks = yield* start
        const both = (retry_count: number) => withCall({ retry_count, retry: { count: 3 } })
        const refused = yield* tasks.create(kind, both(2))
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.deepStrictEqual(refused.body.detail.issues, [
          {
            path: [...path, "retry", "count"],
            code: "invalid",
            message: `${field}retry.count differs from retry_count: send only one of the two.`
          }
        ])
        const agreed = yield* tasks.create(kind, both(3))
        assert.strictEqual(callOf(agreed.body).retry_count, 3)
        const changed = yield* tasks.change(kind, agreed.body.id, both(4))
        assert.strictEqual(changed.status, 422)
      })
  )

  it.effect.each(kinds.slice(0, 2))("change one by one: $kind", ({ kind, withCall }) =>
    Effect.gen(function* () {
      const tasks = yield* start
      const { body: task } = yield* tasks.create(kind, withCall(rule))
      const after = (changes: object) =>
        Effect.map(tasks.change(kind, task.id, changes), ({ body }) => body)
      const slow = { count: 2, first_seconds: 60, factor: 3, max_seconds: 600 }
      assert.deepInclude(yield* after({ retry: slow }), { ...rule, retry: slow, retry_count: 2 })
      assert.deepInclude(yield* after({ retry_count: 5 }), {
        retry: { ...slow, count: 5 },
        retry_count: 5
      })
      const without = yield* after({ retry: null, body_contains: null })
      assert.deepInclude(without, {
        retry: null,
        retry_count: 5,
        body_contains: null,
        body_lacks: "error"
      })
      assert.deepInclude(yield* after({ timeout_seconds: 5 }), {
        success_codes: rule.success_codes,
        body_lacks: "error"
      })
    })
  )
})

const nothing = { success_codes: null, body_contains: null, body_lacks: null, retry: null }

const lacksAll = (call: object) => {
  assert.deepInclude(call, nothing)
}
