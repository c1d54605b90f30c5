import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import {
  accessStatus,
  ask,
  createKey,
  statusAndError,
  readPages,
  signUp,
  times
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

layer(testAppLayer())("API keys", (it) => {
  it.effect("are shown once after their creation, with all fields of the record", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const created = yield* ask("POST", `${member.workspace}/api-keys`, {
        token: member.access_token,
        body: { name: "  CI deploys ", scopes: ["tasks:read", "tasks:write"], expires_in_days: 90 }
      })
      assert.strictEqual(created.status, 201)
      assert.strictEqual(created.headers.get("cache-control"), "no-store")
      const { id, key, ...rest } = created.body
      assert.match(key, /^pak_[A-Za-z0-9_-]{43}$/)
      assert.deepStrictEqual(rest, {
        name: "CI deploys",
        key_prefix: key.slice(0, 12),
        scopes: ["tasks:read", "tasks:write"],
        allowed_ips: null,
        expires_at: "2026-08-30T12:00:00.000Z",
        last_used_at: null,
        is_active: true,
        created_at: "2026-06-01T12:00:00.000Z",
        revoked_at: null,
        created_by: member.user_id
      })
      const listed = yield* ask("GET", `${member.workspace}/api-keys`, {
        token: member.access_token
      })
      assert.deepStrictEqual(listed.body, { data: [{ id, ...rest }], next_cursor: null })
      const got = yield* ask("GET", `${member.workspace}/api-keys/${id}`, {
        token: member.access_token
      })
      assert.deepStrictEqual(got.body, { id, ...rest })
    })
  )

  it.effect("never expires without days, or with null", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const input of [{}, { expires_in_days: null }]) {
        const created = yield* ask("POST", `${member.workspace}/api-keys`, {
          token: member.access_token,
          body: { name: "forever", scopes: ["tasks:read"], ...input }
        })
        assert.strictEqual(created.status, 201)
        assert.isNull(created.body.expires_at)
      }
    })
  )

  it.effect("are listed newest first, in pages", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const made: Array<string> = []
      for (const nr of times(5, (index) => index)) {
        made.unshift((yield* createKey(member, { name: `key ${nr}` })).id)
        yield* TestClock.adjust("1 millis")
      }
      yield* createKey(yield* signUp())
      const list = (query: string) =>
        ask("GET", `${member.workspace}/api-keys${query}`, { token: member.access_token })

      const pages = yield* readPages(`${member.workspace}/api-keys`, member.access_token, 2)
      const ids = pages.map((page) => page.map(({ id }) => id))
      assert.deepStrictEqual(ids, [made.slice(0, 2), made.slice(2, 4), made.slice(4)])
      const whole = yield* list("?limit=5")
      assert.strictEqual(whole.body.next_cursor, null)
      for (const query of ["?limit=0", "?limit=101", "?limit=x", "?limit=1.5", "?cursor=x"]) {
        assert.strictEqual(statusAndError(yield* list(query)), "422 validation_failed", query)
      }
    })
  )

  it.effect("are revoked once, and a second revocation gets the same response", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const key = yield* createKey(member)
      const revoke = ask("POST", `${member.workspace}/api-keys/${key.id}/revoke`, {
        token: member.access_token
      })
      assert.strictEqual(yield* accessStatus(key.key), "200")
      const first = yield* revoke
      assert.strictEqual(first.status, 200)
      assert.strictEqual(first.body.is_active, false)
      assert.isString(first.body.revoked_at)
      assert.isUndefined(first.body.key)
      assert.strictEqual(yield* accessStatus(key.key), "401 invalid_api_key")
      assert.deepStrictEqual((yield* revoke).body, first.body)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual((yield* revoke).body, first.body)
      const events = yield* sql`
        SELECT id
        FROM audit_events
        WHERE subject_id = ${key.id} AND action = 'api_key.revoked'`
      assert.strictEqual(events.length, 1)
    })
  )

  it.effect("stay in the list, inactive, when revoked or expired, until they are deleted", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const path = `${member.workspace}/api-keys`
      const token = member.access_token
      const expired = yield* createKey(member, { name: "expired" })
      const revoked = yield* createKey(member, { name: "revoked" })
      const active = yield* createKey(member, { name: "active" })
      yield* ask("POST", `${path}/${revoked.id}/revoke`, { token })
      const rotated = yield* ask("POST", `${path}/${expired.id}/rotate`, { token, body: {} })
      const listed = yield* ask("GET", path, { token })
      assert.deepStrictEqual(
        Object.fromEntries(
          listed.body.data.map((row: { readonly id: string; readonly is_active: boolean }) => [
            row.id,
            row.is_active
          ])
        ),
        { [rotated.body.id]: true, [active.id]: true, [revoked.id]: false, [expired.id]: false }
      )
      assert.notInclude(listed.text, '"key":')

      for (const { id } of [expired, revoked, active]) {
        const one = `${path}/${id}`
        assert.strictEqual(statusAndError(yield* ask("DELETE", one, { token })), "204")
        assert.strictEqual(statusAndError(yield* ask("GET", one, { token })), "404 not_found")
        assert.strictEqual(statusAndError(yield* ask("DELETE", one, { token })), "404 not_found")
        assert.strictEqual(
          statusAndError(yield* ask("POST", `${one}/revoke`, { token })),
          "404 not_found"
        )
        const rotate = yield* ask("POST", `${one}/rotate`, { token, body: {} })
        assert.strictEqual(statusAndError(rotate), "404 not_found")
        assert.strictEqual(rotate.body.detail.resource, "api_key")
      }
      const left = yield* ask("GET", path, { token })
      assert.deepStrictEqual(
        left.body.data.map(({ id }: { readonly id: string }) => id),
        [rotated.body.id]
      )
    })
  )

  it.effect("of another workspace are not found by any request", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const stranger = yield* signUp()
      const key = yield* createKey(owner)
      const path = `${stranger.workspace}/api-keys/${key.id}`
      const token = stranger.access_token
      for (const [method, end] of [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/revoke"],
        ["POST", "/rotate"]
      ] as const) {
        const body = end === "/rotate" ? {} : undefined
        const answer = yield* ask(method, path + end, { token, body })
        assert.strictEqual(statusAndError(answer), "404 not_found", `${method} ${end}`)
        assert.strictEqual(answer.body.detail.resource, "api_key")
      }
      const malformed = yield* ask("GET", `${stranger.workspace}/api-keys/1`, { token })
      assert.strictEqual(malformed.body.detail.resource, "api_key")
      assert.strictEqual(yield* accessStatus(key.key), "200")
    })
  )

  it.effect("that are unknown, revoked, expired or deleted get the same response", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const path = `${member.workspace}/api-keys`
      const [revoked, expired, deleted] = [
        yield* createKey(member),
        yield* createKey(member),
        yield* createKey(member)
      ]
      yield* ask("POST", `${path}/${revoked.id}/revoke`, { token })
      yield* ask("POST", `${path}/${expired.id}/rotate`, { token, body: {} })
      yield* ask("DELETE", `${path}/${deleted.id}`, { token })
      const answers = []
      for (const key of [revoked.key, expired.key, deleted.key, `pak_${"A".repeat(43)}`, "pak_x"]) {
        const { body, headers, status } = yield* ask("GET", "/v1/whoami", { token: key })
        answers.push({ status, detail: body.detail, challenge: headers.get("www-authenticate") })
      }
      for (const answer of answers) {
        assert.deepStrictEqual(answer, {
          status: 401,
          detail: {
            error: "invalid_api_key",
            message: "The API key is unknown, revoked or expired."
          },
          challenge: 'Bearer error="invalid_token"'
        })
      }
    })
  )

  it.effect("cannot be managed with API keys", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const key = yield* createKey(member, { scopes: ["workspace:read", "tasks:write"] })
      const path = `${member.workspace}/api-keys`
      for (const [method, url] of [
        ["GET", path],
        ["POST", path],
        ["GET", `${path}/${key.id}`],
        ["DELETE", `${path}/${key.id}`],
        ["POST", `${path}/${key.id}/revoke`],
        ["POST", `${path}/${key.id}/rotate`]
      ] as const) {
        const answer = yield* ask(method, url, { token: key.key })
        assert.strictEqual(statusAndError(answer), "403 jwt_only", `${method} ${url}`)
      }
    })
  )
})
