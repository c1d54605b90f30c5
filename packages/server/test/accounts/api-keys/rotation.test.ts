import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  accessStatus,
  ask,
  createKey,
  type Member,
  statusAndError,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { collide } from "../../support/collide.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { onPostgres } from "../../support/TestDatabase.ts"

const rotate = (member: Member, id: string, body?: unknown) =>
  ask("POST", `${member.workspace}/api-keys/${id}/rotate`, { token: member.access_token, body })

const get = (member: Member, id: string) =>
  Effect.map(
    ask("GET", `${member.workspace}/api-keys/${id}`, { token: member.access_token }),
    ({ body }) => body
  )

layer(testAppLayer())("rotation of an API key", (it) => {
  it.effect("creates a key with the same name, scopes and expiry, and ends the old one", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const old = yield* createKey(member, {
        name: "deploys",
        scopes: ["tasks:read", "executions:read"],
        expires_in_days: 30
      })
      const before = yield* get(member, old.id)
      yield* TestClock.adjust("1 millis")
      const rotated = yield* rotate(member, old.id)
      assert.strictEqual(rotated.status, 201)
      assert.strictEqual(rotated.headers.get("cache-control"), "no-store")
      const { key, ...record } = rotated.body
      assert.match(key, /^pak_[A-Za-z0-9_-]{43}$/)
      assert.notStrictEqual(key, old.key)
      assert.notStrictEqual(record.id, old.id)
      assert.deepStrictEqual(record, {
        ...before,
        id: record.id,
        key_prefix: key.slice(0, 12),
        created_at: record.created_at
      })
      assert.strictEqual(yield* accessStatus(old.key), "401 invalid_api_key")
      assert.strictEqual(yield* accessStatus(key), "200")
      const after = yield* get(member, old.id)
      assert.isFalse(after.is_active)
      assert.isNull(after.revoked_at)
    })
  )

  it.effect("lets the old key work exactly until the end of the grace", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const old = yield* createKey(member)
      const rotated = yield* rotate(member, old.id, { grace_seconds: 60 })
      assert.isNull(rotated.body.expires_at)
      assert.isTrue((yield* get(member, old.id)).is_active)
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(yield* accessStatus(old.key), "200")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* accessStatus(old.key), "401 invalid_api_key")
      assert.strictEqual(yield* accessStatus(rotated.body.key), "200")
    })
  )

  it.effect("never extends the old key", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const old = yield* createKey(member, { expires_in_days: 1 })
      const { expires_at } = yield* get(member, old.id)
      const rotated = yield* rotate(member, old.id, { grace_seconds: 604_800 })
      assert.strictEqual(rotated.body.expires_at, expires_at)
      assert.strictEqual((yield* get(member, old.id)).expires_at, expires_at)
    })
  )

  it.effect("is rejected for a key that was rotated before", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const old = yield* createKey(member)
      const grace = { grace_seconds: 60 }
      const successor = yield* rotate(member, old.id, grace)
      const again = yield* rotate(member, old.id, grace)
      assert.strictEqual(statusAndError(again), "409 conflict")
      assert.include(again.body.detail.message, successor.body.id)
      assert.strictEqual(yield* accessStatus(old.key), "200")
      const next = yield* rotate(member, successor.body.id, grace)
      assert.strictEqual(next.status, 201)
      assert.isNull(next.body.expires_at)
    })
  )

  it.effect("is rejected for a revoked or expired key", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const revoked = yield* createKey(member)
      const expired = yield* createKey(member)
      yield* ask("POST", `${member.workspace}/api-keys/${revoked.id}/revoke`, {
        token: member.access_token
      })
      yield* rotate(member, expired.id)
      assert.strictEqual(statusAndError(yield* rotate(member, revoked.id)), "409 conflict")
      assert.strictEqual(statusAndError(yield* rotate(member, expired.id)), "409 conflict")
    })
  )

  it.effect("creates only one key for simultaneous rotations", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const old = yield* createKey(member)
      const answers = yield* runConcurrently(times(8, () => rotate(member, old.id)))
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
        "201",
        ...times(7, () => "409 conflict")
      ])
    })
  )

  it.effect("creates no key after a revocation that came first", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const { id } = yield* createKey(member)
      const path = `${member.workspace}/api-keys`
      const token = member.access_token
      const [revoked] = yield* collide(sql`SELECT id FROM api_keys WHERE id = ${id} FOR UPDATE`, [
        ask("POST", `${path}/${id}/revoke`, { token }),
        rotate(member, id)
      ])
      assert.strictEqual(statusAndError(revoked!), "200")
      const listed = yield* ask("GET", path, { token })
      const revokedAt = Date.parse(revoked?.body.revoked_at)
      for (const key of listed.body.data) {
        assert.isFalse(key.is_active && Date.parse(key.created_at) > revokedAt)
      }
      // On the embedded store, either request can be processed first.
      if (onPostgres) assert.strictEqual(listed.body.data.length, 1)
    })
  )

  it.effect("requires a grace of 0 to 604,800 whole seconds", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const key = yield* createKey(member)
      for (const grace_seconds of [-1, 604_801, 1.5, "60", null]) {
        const answer = yield* rotate(member, key.id, { grace_seconds })
        assert.strictEqual(statusAndError(answer), "422 validation_failed", String(grace_seconds))
        assert.deepStrictEqual(answer.body.detail.issues[0].path, ["grace_seconds"])
      }
      assert.strictEqual(yield* accessStatus(key.key), "200")
    })
  )
})
