import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, statusAndError } from "../support/http.ts"
import { keyedClientOf } from "../support/keyed.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { setUpCron, minimalCron } from "./cron/tasks.ts"

const start = Effect.map(setUpCron, ({ key, member }) => ({
  member,
  tasks: keyedClientOf({ ...member, access_token: key })
}))

layer(testAppLayer())("a task", (it) => {
  it.effect("names its queue by the key of the queue", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      const { body: queue } = yield* tasks.put("queues", "imports", {
        name: "Imports",
        max_concurrency: 1
      })
      const { body: other } = yield* tasks.create("queues", { name: "Other", max_concurrency: 1 })
      const named = { queue_id: queue.id, queue_key: "imports" }
      const { body: task } = yield* tasks.create("cron", { ...minimalCron, queue_key: "imports" })
      assert.deepInclude(task, named)
      assert.deepInclude((yield* tasks.list("cron")).body.data[0], named)
      yield* tasks.create("delayed", {
        url: minimalCron.url,
        delay_seconds: 60,
        queue_key: "imports"
      })
      assert.deepInclude((yield* tasks.list("delayed")).body.data[0], named)

      const moved = yield* tasks.patch("cron", task.id, { queue_id: other.id })
      assert.deepInclude(moved.body, { queue_id: other.id, queue_key: null })
      const back = yield* tasks.patch("cron", task.id, { queue_key: "imports" })
      assert.deepInclude(back.body, named)
      const none = yield* tasks.patch("cron", task.id, { queue_key: null })
      assert.deepInclude(none.body, { queue_id: null, queue_key: null })

      for (const wrong of [{ queue_key: "other" }, { queue_id: other.id, queue_key: "imports" }]) {
        const refused = yield* tasks.patch("cron", task.id, wrong)
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.deepStrictEqual(refused.body.detail.issues[0].path, ["queue_key"])
      }
    })
  )

  it.effect("takes a text or any other JSON value as its body", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      for (const [given, kept] of [
        ["a text", "a text"],
        ['{"a": 1}', '{"a": 1}'],
        [{ a: 1, b: ["ü", null] }, '{"a":1,"b":["ü",null]}'],
        [[1, 2], "[1,2]"],
        [false, "false"],
        [0, "0"],
        [null, null]
      ]) {
        const { body: task } = yield* tasks.create("cron", { ...minimalCron, body: given })
        assert.strictEqual(task.body, kept)
      }
      const large = yield* tasks.create("cron", {
        ...minimalCron,
        body: { text: "x".repeat(256 * 1024) }
      })
      assert.strictEqual(statusAndError(large), "422 validation_failed")
    })
  )

  it.effect("has no body if it is a GET or HEAD", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      for (const method of ["GET", "HEAD"]) {
        const refused = yield* tasks.create("cron", { ...minimalCron, method, body: "text" })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.deepStrictEqual(refused.body.detail.issues[0].path, ["body"])
      }
      const { body: task } = yield* tasks.create("cron", { ...minimalCron, body: "text" })
      const late = yield* tasks.patch("cron", task.id, { method: "GET" })
      assert.strictEqual(statusAndError(late), "422 validation_failed")
      const both = yield* tasks.patch("cron", task.id, { method: "GET", body: null })
      assert.deepInclude(both.body, { method: "GET", body: null })
      const step = { name: "a", url: minimalCron.url, method: "GET", body: "text" }
      const chain = yield* tasks.create("chains", { name: "Chain", steps: [step] })
      assert.strictEqual(statusAndError(chain), "422 validation_failed")
    })
  )

  it.effect("merges the headers and the retries of a change into its own", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      const { body: task } = yield* tasks.create("cron", {
        ...minimalCron,
        headers: { "X-One": "1", "x-two": "2" },
        retry: { count: 3, first_seconds: 10, max_seconds: 60 }
      })
      const changed = yield* tasks.patch("cron", task.id, {
        headers: { "x-one": "new", "x-two": null, "x-three": "3" },
        retry: { factor: 3, max_seconds: null }
      })
      assert.deepStrictEqual(changed.body.headers, { "x-one": "new", "x-three": "3" }, changed.text)
      const retry = { count: 3, first_seconds: 10, factor: 3, max_seconds: 3_600 }
      assert.deepInclude(changed.body, { retry, retry_count: 3 })
      const many = Object.fromEntries(Array.from({ length: 49 }, (_, n) => [`x-more-${n}`, "1"]))
      const refused = yield* tasks.patch("cron", task.id, { headers: many })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
    })
  )

  it.effect(
    "is found by its tag and the beginning of its key, in the order that is asked for",
    () =>
      Effect.gen(function* () {
        const { member, tasks } = yield* start
        const define = (key: string, name: string, fields: object = {}) =>
          tasks.put("cron", key, { ...minimalCron, name, ...fields })
        yield* define("eu:b", "beta", { tags: ["night"], schedule: "0 5 * * *" })
        yield* define("eu:a", "Alpha", { schedule: "0 4 * * *" })
        yield* define("us:c", "gamma", { tags: ["night"], paused: true })
        const names = (query: string) =>
          Effect.map(tasks.list("cron", `?${query}`), ({ body }) =>
            body.data.map(({ name }: { readonly name: string }) => name)
          )
        assert.deepStrictEqual(yield* names("tag=night"), ["gamma", "beta"])
        assert.deepStrictEqual(yield* names("key_prefix=eu:"), ["Alpha", "beta"])
        assert.deepStrictEqual(yield* names("status=active&status=paused"), [
          "gamma",
          "Alpha",
          "beta"
        ])
        assert.deepStrictEqual(yield* names("status=paused"), ["gamma"])
        assert.deepStrictEqual(yield* names("sort=created_at"), ["beta", "Alpha", "gamma"])
        for (const [sort, order] of [
          ["name", ["Alpha", "beta", "gamma"]],
          ["-name", ["gamma", "beta", "Alpha"]],
          ["next_run_at", ["Alpha", "beta", "gamma"]],
          ["created_at", ["beta", "Alpha", "gamma"]]
        ] as const) {
          const seen: Array<string> = []
          let cursor: string | null = ""
          while (cursor !== null) {
            const page: {
              readonly body: {
                readonly data: ReadonlyArray<{ name: string }>
                readonly next_cursor: string | null
                readonly total: number
              }
            } = yield* tasks.list(
              "cron",
              `?sort=${sort}&limit=1&total=true${cursor && `&cursor=${cursor}`}`
            )
            seen.push(...page.body.data.map(({ name }) => name))
            assert.strictEqual(page.body.total, 3)
            cursor = page.body.next_cursor
          }
          assert.deepStrictEqual(seen, [...order], sort)
        }
        const { body: byName } = yield* tasks.list("cron", "?sort=name&limit=1")
        for (const query of [
          `cursor=${byName.next_cursor}`,
          `sort=next_run_at&cursor=${byName.next_cursor}`
        ]) {
          assert.strictEqual(
            statusAndError(yield* tasks.list("cron", `?${query}`)),
            "422 validation_failed"
          )
        }
        assert.strictEqual((yield* tasks.list("cron")).body.total, null)
        const all = yield* ask("GET", "/v1/cron-tasks?sort=name&tag=night&total=true", {
          token: member.access_token
        })
        assert.deepStrictEqual(
          all.body.data.map(({ name }: { readonly name: string }) => name),
          ["beta", "gamma"]
        )
        assert.strictEqual(all.body.total, 2)
      })
  )
})
