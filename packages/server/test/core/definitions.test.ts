import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createKey, statusAndError, signUp, runConcurrently } from "../support/http.ts"
import { keyedKinds, keyedClientOf } from "../support/keyed.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"
import { workerClientOf } from "../workers/workers.ts"

const scopes = ["tasks", "monitors", "notifications"].flatMap((what) => [
  `${what}:read`,
  `${what}:write`
])

const start = Effect.gen(function* () {
  yield* TestClock.setTime(testNow)
  const member = yield* signUp()
  const { key } = yield* createKey(member, { scopes })
  const worker_id: string = (yield* workerClientOf(member).create()).body.id
  return {
    member,
    keyed: keyedClientOf({ ...member, access_token: key }),
    /** Returns the definition, which refers to an existing worker. */
    on: (definition: object) =>
      "match" in definition ? { ...definition, worker_id } : { ...definition }
  }
})

const pausable = keyedKinds.filter(({ path }) => path !== "delayed")

layer(testAppLayer())("a record that people define", (it) => {
  describe.each(keyedKinds)("$path", ({ definition: kept, path }) => {
    it.effect("can be identified by its key instead of its id", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const { body: one } = yield* keyed.put(path, "a:b@c", on(kept))
        assert.deepStrictEqual((yield* keyed.get(path, "key:a:b@c")).body, one)
        assert.deepStrictEqual((yield* keyed.get(path, "key%3Aa%3Ab%40c")).body, one)
        yield* TestClock.adjust("1 minute")
        const changed = yield* keyed.patch(path, "key:a:b@c", { name: "By key" })
        assert.deepInclude(changed.body, { id: one.id, name: "By key" }, changed.text)
        assert.strictEqual(statusAndError(yield* keyed.get(path, "key:other")), "404 not_found")
        assert.strictEqual(statusAndError(yield* keyed.get(path, "key:")), "404 not_found")
        const elsewhere = keyedClientOf(yield* signUp())
        assert.strictEqual(statusAndError(yield* elsewhere.get(path, "key:a:b@c")), "404 not_found")
        assert.strictEqual((yield* keyed.remove(path, "key:a:b@c")).status, 204)
      })
    )

    it.effect("can be sent back as it was read, which changes nothing", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        yield* keyed.put(path, "again", { ...on(kept), tags: ["b", "a"] })
        const { body: read } = yield* keyed.get(path, "key:again")
        yield* TestClock.adjust("1 minute")
        const sent = yield* keyed.put(path, "again", read)
        assert.strictEqual(sent.status, 200, sent.text)
        assert.deepStrictEqual(sent.body, read)
        assert.deepStrictEqual((yield* keyed.get(path, "key:again")).body, read)
        const patched = yield* keyed.patch(path, "key:again", { id: read.id })
        assert.strictEqual(statusAndError(patched), "422 validation_failed")
      })
    )

    it.effect("has a version that grows by one with each change", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const { body: first } = yield* keyed.put(path, "v", on(kept))
        assert.strictEqual(first.version, 1)
        const second = yield* keyed.patch(path, first.id, { name: "Second", version: 1 })
        assert.strictEqual(second.body.version, 2, second.text)
        const third = yield* keyed.put(path, "v", { ...second.body, name: "Third" })
        assert.strictEqual(third.body.version, 3, third.text)
        const read = yield* keyed.get(path, first.id)
        assert.strictEqual(read.headers.get("etag"), '"3"')
        assert.deepStrictEqual(read.body, third.body)
      })
    )

    it.effect("is not changed by a client that has read an older version", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const { body: first } = yield* keyed.put(path, "old", on(kept))
        const old = { "if-match": '"1"' }
        const { body: now } = yield* keyed.patch(path, first.id, { name: "Now" }, old)
        assert.strictEqual(now.version, 2)
        for (const refused of [
          yield* keyed.patch(path, first.id, { name: "Late" }, old),
          yield* keyed.patch(path, first.id, { name: "Late", version: 1 }),
          // The header takes precedence.
          yield* keyed.patch(path, first.id, { name: "Late", version: 2 }, old),
          yield* keyed.put(path, "old", { ...on(kept), name: "Late" }, old),
          yield* keyed.put(path, "old", first),
          yield* keyed.remove(path, first.id, old)
        ]) {
          assert.strictEqual(statusAndError(refused), "412 stale", refused.text)
          assert.strictEqual(refused.body.detail.version, 2)
        }
        assert.deepStrictEqual((yield* keyed.get(path, first.id)).body, now)
        const never = yield* keyed.put(path, "never", { ...on(kept), version: 1 })
        assert.deepStrictEqual(
          [statusAndError(never), never.body.detail.version],
          ["412 stale", null]
        )
        const malformed = yield* keyed.patch(path, first.id, {}, { "if-match": "2" })
        assert.strictEqual(statusAndError(malformed), "422 validation_failed")
        assert.strictEqual((yield* keyed.remove(path, first.id, { "if-match": '"2"' })).status, 204)
      })
    )

    it.effect("is changed by one of two clients that have read the same version", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const { body: read } = yield* keyed.put(path, "both", on(kept))
        const patch = (name: string) => keyed.patch(path, read.id, { name, version: 1 })
        const patched = yield* runConcurrently([patch("One"), patch("Two")])
        assert.deepStrictEqual(patched.map(statusAndError).toSorted(), ["200", "412 stale"])
        const put = (name: string) => keyed.put(path, "both", { ...on(kept), name, version: 2 })
        const replaced = yield* runConcurrently([put("Three"), put("Four")])
        assert.deepStrictEqual(replaced.map(statusAndError).toSorted(), ["200", "412 stale"])
        assert.strictEqual((yield* keyed.get(path, read.id)).body.version, 3)
      })
    )

    it.effect("has at most 20 tags", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const { body: plain } = yield* keyed.put(path, "tags", on(kept))
        assert.deepStrictEqual(plain.tags, [])
        const tagged = yield* keyed.patch(path, plain.id, { tags: ["night", "billing"] })
        assert.deepStrictEqual(tagged.body.tags, ["night", "billing"])
        const many = Array.from({ length: 21 }, (_, index) => `tag ${index}`)
        const refused = yield* keyed.patch(path, plain.id, { tags: many })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        const created = yield* keyed.create(path, { ...on(kept), tags: many.slice(1) })
        assert.deepStrictEqual(created.body.tags, many.slice(1), created.text)
      })
    )
  })

  describe.each(pausable)("$path", ({ changes, definition: kept, path }) => {
    it.effect("is created paused if its definition says so, and resumed by another", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const created = yield* keyed.create(path, { ...on(kept), paused: true })
        assert.deepInclude(created.body, { paused: true, version: 1 }, created.text)
        const { body: put } = yield* keyed.put(path, "quiet", { ...on(kept), paused: true })
        assert.deepInclude(put, { paused: true, version: 1 })
        yield* TestClock.adjust("1 minute")
        const again = yield* keyed.put(path, "quiet", { ...on(kept), paused: true })
        assert.deepStrictEqual(again.body, put)

        const other = { ...on(kept), ...changes }
        const still = yield* keyed.put(path, "quiet", other)
        assert.deepInclude(still.body, { paused: true, version: 2 }, still.text)
        const resumed = yield* keyed.put(path, "quiet", { ...other, paused: false })
        assert.deepInclude(resumed.body, { paused: false, version: 3 }, resumed.text)
        const both = yield* keyed.patch(path, "key:quiet", { name: "Quiet", paused: true })
        assert.deepInclude(both.body, { name: "Quiet", paused: true, version: 4 }, both.text)
        const same = yield* keyed.patch(path, "key:quiet", { paused: true })
        assert.strictEqual(same.body.paused, true, same.text)
      })
    )
  })
})
