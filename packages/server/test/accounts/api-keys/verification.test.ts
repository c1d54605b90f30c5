import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  accessStatus,
  ask,
  createKey,
  statusAndError,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { startNode, TestApp, twoTestNodesLayer, testConfig } from "../../support/TestApp.ts"

const hashOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ key_hash: string }>`SELECT key_hash FROM api_keys WHERE id = ${id}`
  return row?.key_hash
})

/** Starts another node with other secrets on the same database. */
const nodeWith = (secrets: readonly [current: string, ...retired: Array<string>]) =>
  Effect.gen(function* () {
    const [current, ...retired] = secrets
    const sql = yield* SqlClient.SqlClient
    yield* sql`DELETE FROM app_secret`
    const url = yield* startNode({
      ...testConfig,
      appSecret: Redacted.make(current),
      previousAppSecrets: retired.map((secret) => Redacted.make(secret))
    })
    return { url, otherUrl: url, logs: [] }
  })

layer(twoTestNodesLayer())("verification of an API key", (it) => {
  it.effect("fails from the millisecond of expires_at on", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const { id, key } = yield* createKey(member, { expires_in_days: 1 })
      // Changing the key's timestamps is faster than moving the clock by a day.
      yield* sql`
        UPDATE api_keys
        SET expires_at = expires_at - interval '1 day' + interval '2 minutes'
        WHERE id = ${id}`
      const record = Effect.map(
        ask("GET", `${member.workspace}/api-keys/${id}`, { token: member.access_token }),
        ({ body }) => body
      )
      yield* TestClock.adjust("119999 millis")
      assert.strictEqual(yield* accessStatus(key), "200")
      assert.isTrue((yield* record).is_active)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* accessStatus(key), "401 invalid_api_key")
      assert.strictEqual(yield* accessStatus(key, "otherUrl"), "401 invalid_api_key")
      assert.isFalse((yield* record).is_active)
    })
  )

  it.effect("fails at the next request after a revocation or deletion on the other node", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      for (const [method, end] of [
        ["POST", "/revoke"],
        ["DELETE", ""]
      ] as const) {
        const { id, key } = yield* createKey(member)
        yield* runConcurrently(times(20, () => accessStatus(key, "otherUrl")))
        yield* ask(method, `${member.workspace}/api-keys/${id}${end}`, { token })
        const after = yield* runConcurrently(times(20, () => accessStatus(key, "otherUrl")))
        assert.deepStrictEqual(new Set(after), new Set(["401 invalid_api_key"]))
      }
      const { key } = yield* createKey(member)
      assert.strictEqual(yield* accessStatus(key, "otherUrl"), "200")
      assert.strictEqual(statusAndError(yield* ask("DELETE", member.workspace, { token })), "204")
      assert.strictEqual(yield* accessStatus(key, "otherUrl"), "401 invalid_api_key")
    })
  )

  it.effect("distinguishes the keys of one batch", () =>
    Effect.gen(function* () {
      const members = yield* runConcurrently(times(3, () => signUp()))
      const keys = yield* runConcurrently(members.map((member) => createKey(member)))
      const answers = yield* runConcurrently(
        times(60, (index) =>
          index % 4 === 3
            ? ask("GET", "/v1/whoami", { token: `pak_${String(index).padStart(43, "A")}` })
            : ask("GET", "/v1/whoami", { token: keys[index % 4]!.key })
        )
      )
      for (const [index, answer] of answers.entries()) {
        if (index % 4 === 3) assert.strictEqual(statusAndError(answer), "401 invalid_api_key")
        else assert.strictEqual(answer.body.workspace_id, members[index % 4]!.workspace_id)
      }
    })
  )

  it.effect("accepts a key hashed with a retired secret, and hashes it again", () =>
    Effect.gen(function* () {
      const old = "the old secret, thirty-two bytes and a few more"
      const fresh = "the new secret, thirty-two bytes and a few more"
      const before = yield* nodeWith([old])
      const { id, key, member } = yield* Effect.gen(function* () {
        const member = yield* signUp()
        return { member, ...(yield* createKey(member)) }
      }).pipe(Effect.provideService(TestApp, before))
      const oldHash = yield* hashOf(id)

      const forgetful = yield* nodeWith([fresh])
      assert.strictEqual(
        yield* accessStatus(key).pipe(Effect.provideService(TestApp, forgetful)),
        "401 invalid_api_key"
      )
      assert.strictEqual(
        yield* accessStatus(member.access_token).pipe(Effect.provideService(TestApp, forgetful)),
        "401 invalid_token"
      )
      assert.strictEqual(yield* hashOf(id), oldHash)

      const during = yield* nodeWith([fresh, old])
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* accessStatus(member.access_token), "200")
        const uses = yield* runConcurrently(times(10, () => accessStatus(key)))
        assert.deepStrictEqual(new Set(uses), new Set(["200"]))
        assert.strictEqual(yield* accessStatus(key), "200")
      }).pipe(Effect.provideService(TestApp, during))
      assert.notStrictEqual(yield* hashOf(id), oldHash)

      // Once the key has been used, it no longer needs the old secret.
      assert.strictEqual(
        yield* accessStatus(key).pipe(Effect.provideService(TestApp, forgetful)),
        "200"
      )
    })
  )

  it.effect("responds with 404 to a create if the workspace is deleted first", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const answers = yield* runConcurrently([
        ...times(10, (index) =>
          ask("POST", `${member.workspace}/api-keys`, {
            token,
            body: { name: "late", scopes: ["tasks:read"] },
            at: index % 2 === 0 ? "url" : "otherUrl"
          })
        ),
        ask("DELETE", member.workspace, { token, at: "otherUrl" })
      ])
      assert.strictEqual(statusAndError(answers.at(-1)!), "204")
      for (const answer of answers.slice(0, -1)) {
        assert.oneOf(statusAndError(answer), ["201", "404 not_found"])
      }
    })
  )
})
