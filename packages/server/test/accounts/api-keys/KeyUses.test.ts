import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { accessStatus, ask, createKey, signUp, times, runConcurrently } from "../../support/http.ts"
import { twoTestNodesLayer } from "../../support/TestApp.ts"

const isoNow = Effect.map(DateTime.now, DateTime.formatIso)

/**
 * Creates a key. Returns functions that use the key on either node, and that wait until its use has
 * been recorded.
 */
const subject = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const member = yield* signUp()
  const { id, key } = yield* createKey(member)
  const lastUsed = Effect.map(
    sql<{ last_used_at: Date | null }>`SELECT last_used_at FROM api_keys WHERE id = ${id}`,
    ([row]) => row?.last_used_at?.toISOString() ?? null
  )
  /** Waits for the write, which happens a second later and takes some real time. */
  const becomes = Effect.fnUntraced(function* (expected: string | null) {
    for (let tries = 0; tries < 200 && (yield* lastUsed) !== expected; tries++) {
      yield* Effect.promise(() => new Promise((resume) => setTimeout(resume, 5)))
    }
    assert.strictEqual(yield* lastUsed, expected)
  })
  return {
    becomes,
    id,
    key,
    lastUsed,
    member,
    use: (at?: "url" | "otherUrl") => accessStatus(key, at)
  }
})

layer(twoTestNodesLayer())("last_used_at", (it) => {
  it.effect("is null until the first use, which is written after the request", () =>
    Effect.gen(function* () {
      const { becomes, id, lastUsed, member, use } = yield* subject
      const path = `${member.workspace}/api-keys/${id}`
      const get = ask("GET", path, { token: member.access_token })
      assert.isNull((yield* get).body.last_used_at)
      const usedAt = yield* isoNow
      yield* use()
      assert.isNull(yield* lastUsed)
      yield* TestClock.adjust("1 second")
      yield* becomes(usedAt)
      assert.strictEqual((yield* get).body.last_used_at, usedAt)
    })
  )

  it.effect("changes at most once a minute on all nodes together", () =>
    Effect.gen(function* () {
      const { becomes, lastUsed, use } = yield* subject
      const first = yield* isoNow
      yield* use()
      yield* TestClock.adjust("1 second")
      yield* becomes(first)
      yield* TestClock.adjust("58999 millis")
      yield* runConcurrently([use(), use("otherUrl")])
      yield* TestClock.adjust("1 millis")
      const minute = yield* isoNow
      yield* use("otherUrl")
      yield* TestClock.adjust("1 second")
      yield* becomes(minute)
      // A use that the other node has recorded also counts for this node.
      yield* TestClock.adjust("30 seconds")
      yield* use()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* lastUsed, minute)
    })
  )

  it.effect("never moves back if a node writes an earlier use later", () =>
    Effect.gen(function* () {
      const { becomes, id, lastUsed, use } = yield* subject
      const sql = yield* SqlClient.SqlClient
      yield* use()
      const later = new Date(DateTime.toEpochMillis(yield* DateTime.now) + 3_600_000)
      yield* sql`UPDATE api_keys SET last_used_at = ${later} WHERE id = ${id}`
      yield* TestClock.adjust("1 second")
      yield* becomes(later.toISOString())
      assert.strictEqual(yield* lastUsed, later.toISOString())
    })
  )

  it.effect("is not written by rejected uses", () =>
    Effect.gen(function* () {
      const { id, key, lastUsed, member } = yield* subject
      yield* ask("POST", `${member.workspace}/api-keys/${id}/revoke`, {
        token: member.access_token
      })
      assert.strictEqual(yield* accessStatus(key), "401 invalid_api_key")
      yield* TestClock.adjust("2 seconds")
      assert.isNull(yield* lastUsed)
    })
  )

  it.effect("is written for many keys in one second", () =>
    Effect.gen(function* () {
      const subjects = yield* runConcurrently(times(3, () => subject))
      const usedAt = yield* isoNow
      yield* runConcurrently(
        times(60, (index) => subjects[index % 3]!.use(index % 2 === 0 ? "url" : "otherUrl"))
      )
      yield* TestClock.adjust("1 second")
      for (const { becomes } of subjects) yield* becomes(usedAt)
    })
  )
})
