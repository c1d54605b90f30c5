import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { setUpChains } from "./chains/chains.ts"
import { setUpCron, minimalCron as cronTask, runsOf } from "./cron/tasks.ts"
import { statusAndError } from "../support/http.ts"
import { delayedTask, keyedClientOf } from "../support/keyed.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer } from "../support/TestApp.ts"

const start = Effect.gen(function* () {
  yield* setUpChains
  const { key, member } = yield* setUpCron
  return { member, tasks: keyedClientOf({ ...member, access_token: key }) }
})

layer(testAppLayer())("a task with a key", (it) => {
  it.effect("has a key that stands in a path, and ignores one in its definition", () =>
    Effect.gen(function* () {
      const { tasks } = yield* start
      for (const key of ["-a", "a/b", "a b", "ü", "a".repeat(201), "..", "a%2Fb"]) {
        const refused = yield* tasks.create("cron", { ...cronTask, key })
        assert.strictEqual(statusAndError(refused), "422 validation_failed", key)
        if (key === "..") continue
        const put = yield* tasks.put("cron", key, cronTask)
        assert.strictEqual(statusAndError(put), "422 validation_failed", key)
        assert.deepStrictEqual(put.body.detail.issues[0].path, ["key"])
      }
      const put = yield* tasks.put("cron", "a", { ...cronTask, key: "b" })
      assert.strictEqual(put.status, 201, put.text)
      assert.strictEqual(put.body.key, "a")
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

      // A task that is due immediately has already started, so sending an equal definition changes
      // nothing.
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
