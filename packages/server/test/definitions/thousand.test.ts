// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ask, signUp } from "../support/http.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"

const records = 1_000

const documentOf = (url: string) => ({
  version: 1,
  owner: "billing",
  queues: [{ key: "imports", name: "Imports", max_concurrency: 2 }],
  tasks: Array.from({ length: records - 101 }, (_, index) => ({
    key: `task-${index}`,
    name: `Task ${index}`,
    schedule: `${index % 60} ${index % 24} * * *`,
    timezone: "Europe/Berlin",
    url: `${url}/${index}`,
    queue_key: "imports"
  })),
  monitors: Array.from({ length: 100 }, (_, index) => ({
    kind: "heartbeat",
    key: `monitor-${index}`,
    name: `Monitor ${index}`,
    period_seconds: 3600
  }))
})

layer(testAppLayer())("A document with a thousand records", (it) => {
  it.effect(
    "is applied within seconds, and faster if nothing differs",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(testNow)
        const { access_token: token, workspace } = yield* signUp()
        const apply = Effect.fnUntraced(function* (body: object, query = "") {
          const startedAt = performance.now()
          const answer = yield* ask("POST", `${workspace}/apply${query}`, { token, body })
          assert.strictEqual(answer.status, 200, answer.text)
          return { counts: answer.body.counts, ms: performance.now() - startedAt }
        })
        const none = { create: 0, update: 0, unchanged: 0, delete: 0 }
        const document = documentOf("https://api.example.com")
        yield* apply(document, "?dry_run=true")
        const created = yield* apply(document)
        assert.deepStrictEqual(created.counts, { ...none, create: records })
        // A busy machine can take several times as long.
        assert.isBelow(created.ms, 30_000)
        const again = yield* apply(document)
        assert.deepStrictEqual(again.counts, { ...none, unchanged: records })
        assert.isBelow(again.ms, created.ms)
        yield* apply(documentOf("https://other.example.com"))
        const pruned = yield* apply({ ...document, tasks: [], monitors: [] }, "?prune=true")
        assert.deepStrictEqual(pruned.counts, { ...none, unchanged: 1, delete: records - 1 })
      }),
    180_000
  )
})
