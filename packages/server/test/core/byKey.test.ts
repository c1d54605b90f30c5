import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ask, createKey, statusAndError, signUp, times, runConcurrently } from "../support/http.ts"
import { keyedKinds, keyedClientOf } from "../support/keyed.ts"
import { leap } from "../support/leap.ts"
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

layer(testAppLayer())("a record with a caller-chosen key", (it) => {
  describe.each(keyedKinds)("$path", ({ absent, changes, definition: kept, path }) => {
    it.effect("is created once, and an equal definition changes nothing", () =>
      Effect.gen(function* () {
        const { keyed, member, on } = yield* start
        const definition = on(kept)
        const first = yield* keyed.put(path, "reports:nightly", definition)
        assert.strictEqual(first.status, 201, first.text)
        assert.strictEqual(first.body.key, "reports:nightly")
        const location = `${member.workspace}/${path}/${first.body.id}`
        assert.strictEqual(first.headers.get("location"), location)
        yield* TestClock.adjust("1 minute")
        const again = yield* keyed.put(path, "reports:nightly", definition)
        assert.strictEqual(again.status, 200, again.text)
        assert.isNull(again.headers.get("location"))
        assert.deepStrictEqual(again.body, first.body)
        assert.deepStrictEqual((yield* keyed.list(path)).body.data, [first.body])
        const { body: audit } = yield* ask("GET", `${member.workspace}/audit`, {
          token: member.access_token
        })
        const events = audit.data.filter(
          ({ subject_id }: { readonly subject_id: string }) => subject_id === first.body.id
        )
        assert.isAtMost(events.length, 1)
      })
    )

    it.effect("keeps its id when its definition changes", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const key = "billing.2026-01@eu~1"
        const definition = on(kept)
        const made = yield* keyed.put(path, key, definition)
        yield* leap("1 minute")
        const other = { ...definition, name: "After", ...changes }
        const replaced = yield* keyed.put(path, key, other)
        assert.strictEqual(replaced.status, 200, replaced.text)
        assert.deepInclude(replaced.body, { id: made.body.id, key, name: "After" })
        assert.notStrictEqual(replaced.body.updated_at, made.body.updated_at)
        assert.strictEqual((yield* keyed.put(path, key, other)).text, replaced.text)
        if (absent === undefined) return
        // A field that is missing from the definition is set to its default.
        const [field, value, byDefault] = absent
        const given = yield* keyed.put(path, key, { ...definition, [field]: value })
        assert.deepStrictEqual(given.body[field], value, given.text)
        const left = yield* keyed.put(path, key, definition)
        assert.deepStrictEqual(left.body[field], byDefault)
      })
    )

    it.effect("is found by its key, but not in another workspace", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        yield* keyed.create(path, on(kept))
        const { body: one } = yield* keyed.put(path, "a", on(kept))
        assert.deepStrictEqual((yield* keyed.list(path, "?key=a")).body.data, [one])
        assert.deepStrictEqual((yield* keyed.list(path, "?key=b")).body.data, [])
        assert.strictEqual(
          statusAndError(yield* keyed.list(path, "?key=..")),
          "422 validation_failed"
        )
        const others = yield* start
        assert.deepStrictEqual((yield* others.keyed.list(path, "?key=a")).body.data, [])
        const theirs = yield* others.keyed.put(path, "a", others.on(kept))
        assert.strictEqual(theirs.status, 201)
        assert.deepStrictEqual((yield* keyed.get(path, one.id)).body, one)
      })
    )

    it.effect("shares its key with no other record of its kind", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const definition = on(kept)
        const { body: first } = yield* keyed.create(path, { ...definition, key: "a" })
        assert.strictEqual(first.key, "a")
        const taken = yield* keyed.create(path, { ...definition, key: "a" })
        assert.strictEqual(statusAndError(taken), "409 conflict")
        assert.match(taken.body.detail.message, /^An? [\w ]+ with the key "a" already exists\.$/)
        assert.deepInclude(taken.body.detail, { field: "key", existing_id: first.id })
        const { body: second } = yield* keyed.create(path, { ...definition, key: "b" })
        const refused = yield* keyed.patch(path, second.id, { key: "a" })
        assert.strictEqual(statusAndError(refused), "409 conflict")
        assert.deepStrictEqual(refused.body.detail, taken.body.detail)
        assert.strictEqual((yield* keyed.get(path, second.id)).body.key, "b")
        assert.strictEqual((yield* keyed.patch(path, first.id, { key: null })).body.key, null)
        assert.strictEqual((yield* keyed.patch(path, second.id, { key: "a" })).body.key, "a")
        assert.strictEqual((yield* keyed.put(path, "a", definition)).body.id, second.id)
      })
    )

    it.effect("is created once by concurrent requests", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const answers = yield* runConcurrently(times(5, () => keyed.put(path, "a", on(kept))))
        assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
          "200",
          "200",
          "200",
          "200",
          "201"
        ])
        assert.strictEqual(new Set(answers.map(({ body }) => body.id)).size, 1)
      })
    )

    it.effect("cannot have a key that has a meaning in a path", () =>
      Effect.gen(function* () {
        const { keyed, on } = yield* start
        const refused = yield* keyed.create(path, { ...on(kept), key: "a/b" })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        // Clients can send a response back as a definition, so its key is ignored in favour of the
        // key in the path.
        const put = yield* keyed.put(path, "a", { ...on(kept), key: "b" })
        assert.strictEqual(put.status, 201, put.text)
        assert.strictEqual(put.body.key, "a")
      })
    )
  })
})
