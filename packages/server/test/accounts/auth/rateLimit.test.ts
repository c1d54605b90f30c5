import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  ask,
  createKey,
  statusAndError,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const perMinute = 12

const used = (count: number, token: string, path = "/v1/whoami") =>
  Effect.map(runConcurrently(times(count, () => ask("GET", path, { token }))), (answers) =>
    answers.map(statusAndError).toSorted()
  )

layer(testAppLayer({ rateLimit: perMinute }))("the rate limit of a credential", (it) => {
  it.effect("is shown in headers", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { key } = yield* createKey(member)
      const { headers } = yield* ask("GET", "/v1/whoami", { token: key })
      assert.strictEqual(headers.get("ratelimit-policy"), '"default";q=12;w=60')
      assert.strictEqual(headers.get("ratelimit"), '"default";r=11;t=5')
    })
  )

  it.effect("rejects requests until the announced time", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { key } = yield* createKey(member)
      assert.deepStrictEqual(
        yield* used(perMinute, key),
        times(perMinute, () => "200")
      )
      const refused = yield* ask("GET", "/v1/whoami", { token: key })
      assert.strictEqual(statusAndError(refused), "429 rate_limited")
      assert.strictEqual(refused.body.detail.retry_after, 5)
      assert.strictEqual(refused.headers.get("retry-after"), "5")
      assert.strictEqual(refused.headers.get("ratelimit"), '"default";r=0;t=5')
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* used(2, key), ["200", "429 rate_limited"])
    })
  )

  it.effect("does not affect other credentials of the workspace", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { key } = yield* createKey(member)
      yield* used(perMinute + 1, key)
      const { key: other } = yield* createKey(member)
      assert.deepStrictEqual(yield* used(1, other), ["200"])
      assert.deepStrictEqual(yield* used(1, member.access_token), ["200"])
    })
  )

  it.effect("counts all sessions of an account together", () =>
    Effect.gen(function* () {
      const { access_token, refresh_token } = yield* signUp()
      yield* used(perMinute, access_token)
      const refreshed = yield* ask("POST", "/v1/auth/refresh", { body: { refresh_token } })
      assert.deepStrictEqual(yield* used(1, refreshed.body.access_token), ["429 rate_limited"])
    })
  )

  it.effect("counts rejected requests, and rejects before any work", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { key } = yield* createKey(member)
      const forbidden = yield* used(perMinute, key, `${member.workspace}/cron`)
      assert.deepStrictEqual(
        forbidden,
        times(perMinute, () => "403 insufficient_scope")
      )
      yield* used(perMinute - 1, member.access_token)
      const write = { token: member.access_token, body: { name: "too many" } }
      const changed = yield* ask("PATCH", member.workspace, write)
      assert.strictEqual(statusAndError(changed), "429 rate_limited")
    })
  )

  it.effect("does not count unknown credentials", () =>
    Effect.gen(function* () {
      const answer = yield* ask("GET", "/v1/whoami", { token: `pak_${"a".repeat(43)}` })
      assert.strictEqual(statusAndError(answer), "401 invalid_api_key")
      assert.isNull(answer.headers.get("ratelimit"))
      assert.isNull((yield* ask("GET", "/v1/health")).headers.get("ratelimit"))
    })
  )
})

describe("without a rate limit", () => {
  layer(testAppLayer())((it) => {
    it.effect("responses have no headers about it", () =>
      Effect.gen(function* () {
        const { access_token } = yield* signUp()
        const { headers } = yield* ask("GET", "/v1/whoami", { token: access_token })
        assert.isNull(headers.get("ratelimit"))
        assert.isNull(headers.get("ratelimit-policy"))
      })
    )
  })
})

layer(testAppLayer({ rateLimit: 3 }))("the rate limit of an account", (it) => {
  it.effect("covers all its keys, and no single key can use it up", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const keys: Array<string> = []
      for (let created = 0; created < 22; created++) {
        if (created % 3 === 0) yield* TestClock.adjust("1 minute")
        keys.push((yield* createKey(member)).key)
      }
      yield* TestClock.adjust("1 minute")
      const [thief = "", last = "", ...others] = keys
      assert.deepStrictEqual(
        yield* used(100, thief),
        times<string>(100, (index) => (index < 3 ? "200" : "429 rate_limited"))
      )
      for (const key of others.slice(0, 19)) {
        assert.deepStrictEqual(yield* used(3, key), ["200", "200", "200"])
      }
      const refused = yield* ask("GET", "/v1/whoami", { token: last })
      assert.strictEqual(statusAndError(refused), "429 rate_limited")
      assert.strictEqual(refused.headers.get("ratelimit"), '"default";r=0;t=1')
      assert.deepStrictEqual(yield* used(1, (yield* signUp()).access_token), ["200"])
    })
  )
})
