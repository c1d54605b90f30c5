import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import {
  accessStatus,
  type Answer,
  ask,
  logIn,
  statusAndError,
  testFileAddress,
  signUp,
  textWithoutRequestId,
  times,
  runConcurrently
} from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { twoTestNodesLayer, testConfig } from "../../support/TestApp.ts"
import { forgeJwt, hmac, decodeJwt, signingKey } from "./forgeJwt.ts"

const refresh = (refresh_token: string, at: "url" | "otherUrl" = "url") =>
  ask("POST", "/v1/auth/refresh", { body: { refresh_token }, at })

const generation = Effect.fnUntraced(function* (token: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ generation: number }>`
    SELECT generation
    FROM sessions
    WHERE id = ${String(decodeJwt(token).claims["sid"])}`
  return row?.generation
})

const dead = "401 invalid_token"
const refused = "401 invalid_refresh_token"

/** Returns a field's distinct values in the responses. */
const distinct = (answers: ReadonlyArray<Answer>, field: string) =>
  new Set(answers.map(({ body }) => body[field])).size

layer(twoTestNodesLayer())("a session", (it) => {
  it.effect("is ended by the 201st login if it was unused for longest", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      yield* sql`
        INSERT INTO sessions (id, user_id, rotated_at, expires_at, created_at)
        SELECT gen_random_uuid(), user_id, rotated_at - n * interval '1 second', expires_at, created_at
        FROM sessions, generate_series(1, 199) AS n
        WHERE user_id = ${member.user_id}`
      assert.strictEqual(statusAndError(yield* logIn(member.email)), "200")
      const [row] = yield* sql`
        SELECT count(*)::int AS n, (max(rotated_at) - min(rotated_at))::text AS apart
        FROM sessions
        WHERE user_id = ${member.user_id}`
      assert.deepStrictEqual(row, { n: 200, apart: "00:03:18" })
      assert.strictEqual(yield* accessStatus(member.access_token), "200")
    })
  )

  it.effect("is continued with a refresh token, which is replaced", () =>
    Effect.gen(function* () {
      const first = yield* signUp()
      yield* TestClock.adjust("10 minutes")
      const second = yield* refresh(first.refresh_token)
      assert.strictEqual(second.status, 200)
      assert.strictEqual(second.headers.get("cache-control"), "no-store")
      assert.hasAllKeys(second.body, ["access_token", "refresh_token", "token_type", "expires_in"])
      assert.notStrictEqual(second.body.refresh_token, first.refresh_token)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* accessStatus(first.access_token), dead)
      assert.strictEqual(yield* accessStatus(second.body.access_token), "200")
      const third = yield* refresh(second.body.refresh_token, "otherUrl")
      assert.strictEqual(third.status, 200)
      assert.strictEqual(yield* generation(third.body.access_token), 3)
    })
  )

  it.effect("is rotated once by a hundred uses of one refresh token on both nodes", () =>
    Effect.gen(function* () {
      const { refresh_token } = yield* signUp()
      const answers = yield* runConcurrently(
        times(100, (index) => refresh(refresh_token, index % 2 === 0 ? "url" : "otherUrl"))
      )
      assert.deepStrictEqual(new Set(answers.map(statusAndError)), new Set(["200"]))
      assert.strictEqual(distinct(answers, "refresh_token"), 1)
      assert.strictEqual(yield* generation(refresh_token), 2)
      for (const { body } of answers.slice(0, 5)) {
        assert.strictEqual(yield* accessStatus(body.access_token), "200")
      }
      assert.strictEqual((yield* refresh(answers[0]?.body.refresh_token)).status, 200)
    })
  )

  it.effect("survives the reuse of a refresh token for exactly ten seconds", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { refresh_token, user_id } = yield* signUp()
      const rotated = (yield* refresh(refresh_token)).body
      yield* TestClock.adjust("10 seconds")
      const late = yield* refresh(refresh_token)
      assert.strictEqual(late.status, 200)
      assert.strictEqual(late.body.refresh_token, rotated.refresh_token)
      yield* TestClock.adjust("1 millis")
      const reused = yield* refresh(refresh_token)
      assert.strictEqual(statusAndError(reused), refused)
      assert.strictEqual(reused.headers.get("www-authenticate"), 'Bearer error="invalid_token"')
      for (const at of ["url", "otherUrl"] as const) {
        assert.strictEqual(yield* accessStatus(rotated.access_token, at), dead)
        assert.strictEqual(yield* accessStatus(late.body.access_token, at), dead)
        assert.strictEqual(statusAndError(yield* refresh(rotated.refresh_token, at)), refused)
      }
      const events = yield* sql`
        SELECT actor_id, subject_id, ip
        FROM audit_events
        WHERE user_id = ${user_id} AND action = 'session.reuse_detected'`
      const sid = decodeJwt(refresh_token).claims["sid"]
      assert.deepStrictEqual(events, [{ actor_id: null, subject_id: sid, ip: testFileAddress }])
    })
  )

  it.effect("ends when a refresh token from two generations ago is used", () =>
    Effect.gen(function* () {
      const first = yield* signUp()
      const second = (yield* refresh(first.refresh_token)).body
      const third = (yield* refresh(second.refresh_token)).body
      assert.strictEqual(statusAndError(yield* refresh(first.refresh_token)), refused)
      assert.strictEqual(yield* accessStatus(third.access_token), dead)
      assert.strictEqual(statusAndError(yield* refresh(third.refresh_token)), refused)
    })
  )

  it.effect("lasts 30 days from its last refresh", () =>
    Effect.gen(function* () {
      const { refresh_token } = yield* signUp()
      const forgotten = yield* signUp()
      yield* leap("2591999 seconds")
      const last = yield* refresh(refresh_token)
      assert.strictEqual(last.status, 200)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(statusAndError(yield* refresh(forgotten.refresh_token)), refused)
      assert.strictEqual((yield* refresh(last.body.refresh_token)).status, 200)
    })
  )

  it.effect("expires with its tokens, whatever their own expiry", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { access_token, refresh_token } = yield* signUp()
      const sid = String(decodeJwt(access_token).claims["sid"])
      yield* sql`UPDATE sessions SET expires_at = created_at WHERE id = ${sid}`
      assert.strictEqual(yield* accessStatus(access_token), dead)
      assert.strictEqual(statusAndError(yield* refresh(refresh_token)), refused)
    })
  )

  it.effect("rejects refresh tokens with another session, user, type, generation or key", () =>
    Effect.gen(function* () {
      const { bytes } = yield* signingKey(testConfig.appSecret ?? Redacted.make(""))
      const { access_token, refresh_token } = yield* signUp()
      const { claims, header } = decodeJwt(refresh_token)
      const sign = hmac("sha256", bytes)
      for (const change of [
        { sid: randomUUID() },
        { sid: "1" },
        { typ: "access" },
        { gen: "1" },
        { gen: 1.5 },
        { gen: undefined },
        { gen: 2 ** 31 },
        { exp: claims["iat"] },
        { aud: "somebody-else" }
      ]) {
        const token = forgeJwt(header, { ...claims, sid: randomUUID(), ...change }, sign)
        assert.strictEqual(statusAndError(yield* refresh(token)), refused, JSON.stringify(change))
      }
      for (const token of ["x", "a.b.c", `${refresh_token}x`, access_token, "\u0000", "é"]) {
        assert.strictEqual(statusAndError(yield* refresh(token)), refused, token)
      }
      const guessed = forgeJwt(header, claims, hmac("sha256", Buffer.alloc(32)))
      assert.strictEqual(statusAndError(yield* refresh(guessed)), refused)
      for (const body of [{}, { refresh_token: "" }, { refresh_token: "x".repeat(4097) }]) {
        const answer = yield* ask("POST", "/v1/auth/refresh", { body })
        assert.strictEqual(statusAndError(answer), "422 validation_failed")
      }
      assert.strictEqual(yield* accessStatus(access_token), "200")
    })
  )

  it.effect("ends with a logout, and its tokens stop working immediately on both nodes", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const other = yield* logIn(member.email)
      yield* runConcurrently(times(10, () => accessStatus(member.access_token, "otherUrl")))
      const logout = ask("POST", "/v1/auth/logout", { token: member.access_token })
      assert.strictEqual(statusAndError(yield* logout), "204")
      for (const at of ["url", "otherUrl"] as const) {
        assert.strictEqual(yield* accessStatus(member.access_token, at), dead)
        assert.strictEqual(statusAndError(yield* refresh(member.refresh_token, at)), refused)
        assert.strictEqual(yield* accessStatus(other.body.access_token, at), "200")
      }
      assert.strictEqual(statusAndError(yield* logout), dead)
    })
  )

  it.effect("is listed with its address and user agent, newest first", () =>
    Effect.gen(function* () {
      const { access_token, email } = yield* signUp()
      yield* TestClock.adjust("1 second")
      const { body } = yield* logIn(email, {
        headers: { "user-agent": `curl/8 ${"x".repeat(600)}`, "x-forwarded-for": "198.51.100.7" }
      })
      const list = (query = "") => ask("GET", `/v1/auth/sessions${query}`, { token: access_token })
      const [newest, oldest, ...none] = (yield* list()).body.data
      assert.deepStrictEqual(none, [])
      assert.deepStrictEqual(newest, {
        id: decodeJwt(body.access_token).claims["sid"],
        user_agent: `curl/8 ${"x".repeat(493)}`,
        ip: "198.51.100.7",
        began_with: "password",
        created_at: newest.created_at,
        last_used_at: newest.created_at,
        current: false
      })
      assert.isTrue(oldest.current)
      assert.isBelow(Date.parse(oldest.created_at), Date.parse(newest.created_at))
      const page = yield* list("?limit=1")
      assert.deepStrictEqual(page.body.data, [newest])
      const rest = yield* list(`?limit=1&cursor=${page.body.next_cursor}`)
      assert.deepStrictEqual(rest.body, { data: [oldest], next_cursor: null })
    })
  )

  it.effect("can be ended from another session of the same user only", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const stranger = yield* signUp()
      const other = (yield* logIn(member.email)).body
      const path = `/v1/auth/sessions/${decodeJwt(other.access_token).claims["sid"]}`
      const foreign = yield* ask("DELETE", path, { token: stranger.access_token })
      assert.strictEqual(statusAndError(foreign), "404 not_found")
      assert.strictEqual(foreign.body.detail.resource, "session")
      const unknown = yield* ask("DELETE", `/v1/auth/sessions/${randomUUID()}`, {
        token: stranger.access_token
      })
      assert.strictEqual(textWithoutRequestId(foreign), textWithoutRequestId(unknown))
      assert.strictEqual(yield* accessStatus(other.access_token), "200")
      const end = ask("DELETE", path, { token: member.access_token })
      assert.strictEqual(statusAndError(yield* end), "204")
      assert.strictEqual(yield* accessStatus(other.access_token, "otherUrl"), dead)
      assert.strictEqual(statusAndError(yield* refresh(other.refresh_token)), refused)
      assert.strictEqual(statusAndError(yield* end), "404 not_found")
    })
  )
})
