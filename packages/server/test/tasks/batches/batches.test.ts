import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { setUpChains, minimalChain as chain } from "../chains/chains.ts"
import { setUpCron, minimalCron as cronTask } from "../cron/tasks.ts"
import { ask, createKey, statusAndError, times, runConcurrently } from "../../support/http.ts"
import { delayedTask } from "../../support/keyed.ts"
import { loopback, testAppLayer } from "../../support/TestApp.ts"

const kinds = [
  ["cron", cronTask],
  ["delayed", delayedTask],
  ["chains", chain]
] as const

const start = Effect.gen(function* () {
  yield* setUpChains
  const { key, member } = yield* setUpCron
  return {
    member,
    create: (kind: string, items: ReadonlyArray<unknown>, headers = {}) =>
      ask("POST", `${member.workspace}/${kind}/batch`, { token: key, headers, body: { items } }),
    list: (kind: string) => ask("GET", `${member.workspace}/${kind}?limit=100`, { token: key }),
    createOne: (kind: string, body: object) =>
      ask("POST", `${member.workspace}/${kind}`, { token: key, body })
  }
})

const statuses = (body: { readonly items: ReadonlyArray<{ readonly status: number }> }) =>
  body.items.map(({ status }) => status)

layer(testAppLayer({ egressAllow: loopback }))("a batch", (it) => {
  it.effect("reads calendars before, and rejects only items whose calendar cannot be read", () =>
    Effect.gen(function* () {
      const { create } = yield* start
      const unreadable = { ...cronTask, excluded_calendar: { url: "http://127.0.0.1:1/" } }
      const { body } = yield* create("cron", [cronTask, unreadable, cronTask])
      assert.deepStrictEqual(statuses(body), [201, 422, 201])
      assert.deepStrictEqual(body.items[1].error.detail.issues[0].path, [
        "excluded_calendar",
        "url"
      ])
    })
  )

  it.effect.each(kinds)("of a hundred is created in order: %s", ([kind, definition]) =>
    Effect.gen(function* () {
      const { create, list } = yield* start
      const answer = yield* create(
        kind,
        times(100, (index) => ({ ...definition, name: `task ${index}` }))
      )
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(
        answer.body.items.map((item: { data: { name: string } }) => item.data.name),
        times(100, (index) => `task ${index}`)
      )
      const { body } = yield* list(kind)
      assert.deepStrictEqual(
        body.data.map(({ id }: { readonly id: string }) => id),
        answer.body.items
          .map((item: { data: { id: string } }) => item.data.id)
          .toSorted()
          .toReversed()
      )
    })
  )

  it.effect.each(kinds)("returns the result of a create for each item: %s", ([kind, definition]) =>
    Effect.gen(function* () {
      const { create, createOne, list } = yield* start
      const items = [
        { ...definition, key: "a" },
        { ...definition, name: 7, unknown: true },
        null,
        { ...definition, key: "a" },
        definition
      ]
      const { body, status } = yield* create(kind, items)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(statuses(body), [201, 422, 422, 409, 201])
      const alone = yield* createOne(kind, { ...definition, name: 7, unknown: true })
      assert.strictEqual(statusAndError(alone), "422 validation_failed")
      assert.deepStrictEqual(body.items[1].error.detail, alone.body.detail)
      const taken = yield* createOne(kind, { ...definition, key: "a" })
      assert.deepStrictEqual(body.items[3].error.detail, taken.body.detail)
      assert.lengthOf((yield* list(kind)).body.data, 2)
    })
  )

  it.effect.each(kinds)("is created once for an Idempotency-Key: %s", ([kind, definition]) =>
    Effect.gen(function* () {
      const { create, list } = yield* start
      const headers = { "idempotency-key": "once" }
      const items = [definition, { ...definition, name: 7 }, definition]
      const answers = yield* runConcurrently(times(3, () => create(kind, items, headers)))
      for (const { status, text } of answers) {
        assert.strictEqual(status, 200, text)
        assert.strictEqual(text, answers[0]?.text)
      }
      const other = yield* create(kind, [definition], headers)
      assert.strictEqual(statusAndError(other), "422 idempotency_mismatch")
      assert.lengthOf((yield* list(kind)).body.data, 2)
    })
  )

  it.effect("creates items up to the quota, and returns a 402 for each further one", () =>
    Effect.gen(function* () {
      const { create, createOne, member } = yield* start
      const sql = yield* SqlClient.SqlClient
      const { body: one } = yield* createOne("cron", cronTask)
      yield* sql`
        INSERT INTO tasks (
          id, workspace_id, kind, name, status, method, url, headers, timeout_seconds, retry_count,
          schedule, timezone, overlap, missed, dst_overlap, lane, created_at, updated_at
        )
        SELECT
          gen_random_uuid(), workspace_id, kind, name, status, method, url, headers,
          timeout_seconds, retry_count, schedule, timezone, overlap, missed, dst_overlap, lane,
          created_at, updated_at
        FROM tasks, generate_series(1, 9997)
        WHERE id = ${one.id}
          AND workspace_id = ${member.workspace_id}`
      const { body } = yield* create(
        "cron",
        times(4, () => cronTask)
      )
      assert.deepStrictEqual(statuses(body), [201, 201, 402, 402])
      assert.deepInclude(body.items[2].error.detail, { quota: "cron_tasks", limit: 10_000 })
    })
  )

  it.effect("has 1 to 100 items", () =>
    Effect.gen(function* () {
      const { create } = yield* start
      for (const count of [0, 101]) {
        const refused = yield* create(
          "cron",
          times(count, () => cronTask)
        )
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
      }
    })
  )
})

layer(testAppLayer({ rateLimit: 120 }))("the rate of a client", (it) => {
  it.effect("is charged for each item of a batch", () =>
    Effect.gen(function* () {
      const { member } = yield* setUpCron
      const { key: token } = yield* createKey(member, { scopes: ["tasks:read", "tasks:write"] })
      const create = (count: number) =>
        ask("POST", `${member.workspace}/cron/batch`, {
          token,
          body: { items: times(count, () => cronTask) }
        })
      const first = yield* create(100)
      assert.strictEqual(first.status, 200, first.text)
      assert.match(first.headers.get("ratelimit") ?? "", /r=20;/)
      const refused = yield* create(100)
      assert.strictEqual(statusAndError(refused), "429 rate_limited")
      const { body } = yield* ask("GET", `${member.workspace}/cron?limit=1`, { token })
      assert.strictEqual(body.data[0].id, first.body.items[99].data.id)
      assert.strictEqual((yield* create(10)).status, 200)
    })
  )
})
