import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { begin as beginChains, minimal as chain } from "../chains/chains.ts"
import { begin, minimal as cronTask, runsOf } from "../cron/tasks.ts"
import { ask, type Member, outcome, times, together } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"

const delayedTask = {
  url: "https://api.example.com/trials/ended",
  run_at: new Date(testNow + 86_400_000).toISOString()
}

const kinds = [
  ["cron", cronTask, { schedule: "0 4 * * *" }],
  ["delayed", delayedTask, { run_at: new Date(testNow + 90_000_000).toISOString() }],
  ["chains", chain, { steps: [{ name: "other", url: "https://api.example.com/other" }] }]
] as const

/** What a test says of the tasks of one kind. */
const tasksOf = ({
  access_token: token,
  workspace
}: Pick<Member, "workspace" | "access_token">) => {
  const at = (kind: string) => `${workspace}/${kind}`
  return {
    put: (kind: string, key: string, body: object) =>
      ask("PUT", `${at(kind)}/by-key/${encodeURIComponent(key)}`, { token, body }),
    create: (kind: string, body: object) => ask("POST", at(kind), { token, body }),
    patch: (kind: string, id: string, body: object) =>
      ask("PATCH", `${at(kind)}/${id}`, { token, body }),
    remove: (kind: string, id: string) => ask("DELETE", `${at(kind)}/${id}`, { token }),
    get: (kind: string, id: string) => ask("GET", `${at(kind)}/${id}`, { token }),
    list: (kind: string, query = "") => ask("GET", `${at(kind)}${query}`, { token }),
    act: (kind: string, id: string, action: string) =>
      ask("POST", `${at(kind)}/${id}/${action}`, { token })
  }
}

const start = Effect.gen(function* () {
  yield* beginChains
  const { key, member } = yield* begin
  return { member, tasks: tasksOf({ ...member, access_token: key }) }
})

layer(testAppLayer())("a task with a key", (it) => {
  it.effect.each(kinds)("is made once and then left alone: %s", ([kind, definition]) =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      const first = yield* tasks.put(kind, "reports:nightly", definition)
      assert.strictEqual(first.status, 201)
      assert.strictEqual(first.body.key, "reports:nightly")
      yield* leap("1 hour")
      const again = yield* tasks.put(kind, "reports:nightly", definition)
      assert.strictEqual(again.status, 200)
      assert.deepStrictEqual(again.body, first.body)
      assert.deepStrictEqual((yield* tasks.list(kind)).body.data, [first.body])
    })
  )

  it.effect.each(kinds)(
    "gets another definition, and keeps its id: %s",
    ([kind, before, changes]) =>
      Effect.gen(function* () {
        const { tasks } = yield* start
        const key = "billing.2026-01@eu~1"
        const made = yield* tasks.put(kind, key, { ...before, name: "Before" })
        yield* leap("1 minute")
        const replaced = yield* tasks.put(kind, key, { ...before, name: "After", ...changes })
        assert.strictEqual(replaced.status, 200)
        assert.deepInclude(replaced.body, { id: made.body.id, key, name: "After" })
        assert.notStrictEqual(replaced.body.updated_at, made.body.updated_at)
        // What a definition leaves out gets its default, and does not keep its value.
        const { timeout_seconds, ...rest } = (yield* tasks.put(kind, key, before)).body
        assert.strictEqual(rest.name, "name" in before ? before.name : null)
        assert.include([30, undefined], timeout_seconds)
      })
  )

  it.effect.each(kinds)("is found by it, and by nobody else: %s", ([kind, definition]) =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      yield* tasks.create(kind, definition)
      const { body: task } = yield* tasks.put(kind, "a", definition)
      assert.deepStrictEqual((yield* tasks.list(kind, "?key=a")).body.data, [task])
      assert.deepStrictEqual((yield* tasks.list(kind, "?key=b")).body.data, [])
      assert.strictEqual(outcome(yield* tasks.list(kind, "?key=..")), "422 validation_failed")
      const { tasks: others } = yield* start
      assert.deepStrictEqual((yield* others.list(kind, "?key=a")).body.data, [])
      const theirs = yield* others.put(kind, "a", definition)
      assert.strictEqual(theirs.status, 201)
      assert.deepStrictEqual((yield* tasks.get(kind, task.id)).body, task)
    })
  )

  it.effect.each(kinds)("shares it with no other of its kind: %s", ([kind, definition]) =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      const { body: first } = yield* tasks.create(kind, { ...definition, key: "a" })
      assert.strictEqual(first.key, "a")
      const taken = yield* tasks.create(kind, { ...definition, key: "a" })
      assert.strictEqual(outcome(taken), "409 conflict")
      const { body: second } = yield* tasks.create(kind, { ...definition, key: "b" })
      assert.strictEqual(outcome(yield* tasks.patch(kind, second.id, { key: "a" })), "409 conflict")
      assert.strictEqual((yield* tasks.get(kind, second.id)).body.key, "b")
      assert.strictEqual((yield* tasks.patch(kind, first.id, { key: null })).body.key, null)
      assert.strictEqual((yield* tasks.patch(kind, second.id, { key: "a" })).body.key, "a")
      assert.strictEqual((yield* tasks.put(kind, "a", definition)).body.id, second.id)
    })
  )

  it.effect.each(kinds)("is made once by requests at once: %s", ([kind, definition]) =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      const answers = yield* together(times(5, () => tasks.put(kind, "a", definition)))
      assert.deepStrictEqual(answers.map(outcome).toSorted(), ["200", "200", "200", "200", "201"])
      assert.strictEqual(new Set(answers.map(({ body }) => body.id)).size, 1)
    })
  )

  it.effect("has a key that stands in a path, and nothing else in its definition", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      for (const key of ["-a", "a/b", "a b", "ü", "a".repeat(201), "..", "a%2Fb"]) {
        const refused = yield* tasks.create("cron", { ...cronTask, key })
        assert.strictEqual(outcome(refused), "422 validation_failed", key)
        if (key === "..") continue
        const put = yield* tasks.put("cron", key, cronTask)
        assert.strictEqual(outcome(put), "422 validation_failed", key)
        assert.deepStrictEqual(put.body.detail.issues[0].path, ["key"])
      }
      const twice = yield* tasks.put("cron", "a", { ...cronTask, key: "a" })
      assert.strictEqual(outcome(twice), "422 validation_failed")
    })
  )

  it.effect("stays paused, and fires by the new schedule once it is resumed", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      const { body: task } = yield* tasks.put("cron", "a", cronTask)
      yield* tasks.act("cron", task.id, "pause")
      const put = yield* tasks.put("cron", "a", { ...cronTask, schedule: "0 5 * * *" })
      assert.deepInclude(put.body, { status: "paused", next_run_at: null, schedule: "0 5 * * *" })
    })
  )

  it.effect("is moved while it is pending, and followed by another once it is not", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      const soon = { url: delayedTask.url, delay_seconds: 600 }
      const { body: first } = yield* tasks.put("delayed", "a", soon)
      yield* leap("1 minute")
      const { body: moved, status } = yield* tasks.put("delayed", "a", soon)
      assert.strictEqual(status, 200)
      assert.strictEqual(moved.id, first.id)
      assert.isAbove(Date.parse(moved.run_at), Date.parse(first.run_at))
      assert.lengthOf(yield* runsOf(first.id), 1)

      assert.strictEqual((yield* tasks.remove("delayed", first.id)).status, 204)
      const next = yield* tasks.put("delayed", "a", soon)
      assert.strictEqual(next.status, 201)
      assert.strictEqual((yield* tasks.get("delayed", first.id)).body.key, null)

      // What was to be done at once is under way, so the same again changes nothing.
      const now = { url: delayedTask.url, run_at: "2026-01-01T00:00:00Z" }
      const begun = yield* tasks.put("delayed", "b", now)
      assert.strictEqual(begun.status, 201)
      const again = yield* tasks.put("delayed", "b", now)
      assert.deepStrictEqual([again.status, again.body.id], [200, begun.body.id])
      const other = yield* tasks.put("delayed", "b", { ...now, body: "other" })
      assert.strictEqual(other.status, 201)
      assert.notStrictEqual(other.body.id, begun.body.id)
      assert.strictEqual((yield* tasks.list("delayed", "?key=b")).body.data[0].id, other.body.id)
    })
  )
})
