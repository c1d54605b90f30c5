import { assert, layer } from "@effect/vitest"
import { parseCidrs } from "@scheduling/calls/egress/EgressRules"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import * as http from "node:http"
import { ask, statusAndError, password, signUp } from "../../support/http.ts"
import { TestApp, testAppLayer } from "../../support/TestApp.ts"
import {
  panelPageHeaders,
  publicUrl,
  refreshPanelSession,
  sessionCookieOf
} from "../oidc/identityProvider.ts"

const header = "X-Auth-Request-Email"
const config = { publicUrl, authProxyHeader: header }

const freshEmail = () => `${randomUUID()}@example.com`

const signInAs = (email: string, headers: Readonly<Record<string, string>> = {}) =>
  ask("POST", "/panel/proxy", {
    body: {},
    headers: { ...panelPageHeaders, [header]: email, ...headers }
  })

/** Sends headers exactly as given, including duplicates. */
const sendRaw = Effect.fnUntraced(function* (...headers: ReadonlyArray<string>) {
  const { url } = yield* TestApp
  return yield* Effect.promise(
    () =>
      new Promise<number | undefined>((resolve, reject) => {
        const own = Object.entries(panelPageHeaders).flat()
        const given = ["host", new URL(url).host, "content-length", "0", ...own, ...headers]
        const request = http.request(`${url}/panel/proxy`, { method: "POST", headers: given })
        request.on("response", (response) => resolve(response.resume().statusCode))
        request.on("error", reject).end()
      })
  )
})

const refusal = "401 invalid_credentials"

layer(testAppLayer(config))("an authenticating proxy", (it) => {
  it.effect("signs in to a new account with a verified email, and then to the same one", () =>
    Effect.gen(function* () {
      assert.isTrue((yield* ask("GET", "/v1/auth/options")).body.proxy)
      const email = freshEmail()
      const first = yield* signInAs(email)
      assert.strictEqual(first.status, 200, first.text)
      const token = String(first.body.access_token)
      const me = yield* ask("GET", "/v1/auth/me", { token })
      assert.include(me.body, { email, email_verified: true })
      const sessions = yield* ask("GET", "/v1/auth/sessions", { token })
      assert.strictEqual(sessions.body.data[0].began_with, "proxy")
      const again = yield* signInAs(`  ${email.toUpperCase()} `)
      const same = yield* ask("GET", "/v1/auth/me", { token: again.body.access_token })
      assert.strictEqual(same.body.id, me.body.id)
    })
  )

  it.effect("finds the account after its email has changed here", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const email = freshEmail()
      yield* signInAs(email)
      yield* sql`UPDATE users SET email = ${freshEmail()} WHERE email = ${email}`
      const { body } = yield* signInAs(email)
      const me = yield* ask("GET", "/v1/auth/me", { token: body.access_token })
      assert.notStrictEqual(me.body.email, email)
    })
  )

  it.effect("takes an account with an unverified email from whoever registered it", () =>
    Effect.gen(function* () {
      const stranger = yield* signUp()
      const { body } = yield* signInAs(stranger.email)
      const me = yield* ask("GET", "/v1/auth/me", { token: body.access_token })
      assert.strictEqual(me.body.id, stranger.user_id)
      const login = { email: stranger.email, password }
      assert.strictEqual(
        statusAndError(yield* ask("POST", "/v1/auth/login", { body: login })),
        refusal
      )
    })
  )

  it.effect("is accepted with one value, in upper or lower case", () =>
    Effect.gen(function* () {
      const email = freshEmail()
      assert.strictEqual(yield* sendRaw("x-aUTH-request-EMAIL", email), 200)
      assert.strictEqual(yield* sendRaw(header, email, header.toLowerCase(), email), 401)
      assert.strictEqual(yield* sendRaw("X_Auth_Request_Email", email), 401)
      for (const value of ["", "ada", `${email}, bob@example.com`, `Ada <${email}>`]) {
        assert.strictEqual(statusAndError(yield* signInAs(value)), refusal, value)
      }
    })
  )

  it.effect("signs in only from a page of the panel", () =>
    Effect.gen(function* () {
      const answer = yield* signInAs(freshEmail(), { "sec-fetch-site": "cross-site" })
      assert.strictEqual(statusAndError(answer), "403 origin_refused")
    })
  )

  it.effect("must name the same person whenever the session is refreshed", () =>
    Effect.gen(function* () {
      const [email, other] = [freshEmail(), freshEmail()]
      yield* signInAs(other)
      const proxied = (cookie: string, named: string) =>
        ask("PUT", "/panel/session", { headers: { ...panelPageHeaders, cookie, [header]: named } })
      const kept = yield* proxied(sessionCookieOf(yield* signInAs(email)), email)
      assert.strictEqual(statusAndError(kept), "200")
      for (const end of [
        proxied(sessionCookieOf(yield* signInAs(email)), other),
        proxied(sessionCookieOf(yield* signInAs(email)), freshEmail()),
        refreshPanelSession(sessionCookieOf(yield* signInAs(email)))
      ]) {
        assert.strictEqual(statusAndError(yield* end), "401 invalid_refresh_token")
      }
      const sql = yield* SqlClient.SqlClient
      const ended = yield* sql`
        SELECT details
        FROM audit_events
        WHERE action = 'session.ended'
          AND user_id = (SELECT id FROM users WHERE email = ${email})`
      assert.deepStrictEqual(
        ended.map(({ details }) => details),
        Array.from({ length: 3 }, () => ({ ended_by: "proxy" }))
      )
    })
  )

  it.effect("does not let a disabled account in", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const email = freshEmail()
      yield* signInAs(email)
      yield* sql`UPDATE users SET disabled_at = now() WHERE email = ${email}`
      assert.deepStrictEqual((yield* signInAs(email)).body, { problem: "account_disabled" })
    })
  )
})

// The tests connect from 127.0.0.1.
for (const [network, isTrusted] of [
  ["127.0.0.1/32", true],
  ["::ffff:127.0.0.1/128", true],
  ["127.0.0.2/32", false],
  ["::1/128", false],
  ["10.0.0.0/8", false]
] as const) {
  const trustProxy = Result.getOrThrow(parseCidrs(network))
  layer(testAppLayer({ ...config, trustProxy }))(`with TRUST_PROXY=${network}`, (it) => {
    it.effect(isTrusted ? "the header is believed" : "the header is ignored", () =>
      Effect.gen(function* () {
        const answer = yield* signInAs(freshEmail(), { "x-forwarded-for": "10.0.0.1, 127.0.0.2" })
        assert.strictEqual(statusAndError(answer), isTrusted ? "200" : refusal)
      })
    )
  })
}

layer(testAppLayer({ ...config, registration: "closed" }))("with closed registration", (it) => {
  it.effect("the proxy signs in to accounts that exist, and creates none", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      assert.strictEqual(statusAndError(yield* signInAs(member.email)), "200")
      assert.deepStrictEqual((yield* signInAs(freshEmail())).body, {
        problem: "registration_closed"
      })
    })
  )
})

layer(testAppLayer({ publicUrl }))("without AUTH_PROXY_HEADER", (it) => {
  it.effect("no header signs in", () =>
    Effect.gen(function* () {
      assert.strictEqual(statusAndError(yield* signInAs(freshEmail())), refusal)
    })
  )
})
