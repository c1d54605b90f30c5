import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { accessStatus, ask, statusAndError, password, signUp } from "../../support/http.ts"
import { TestApp } from "../../support/TestApp.ts"
import {
  addProviderUser,
  beginSignIn,
  destinationOf,
  panelPageHeaders,
  refreshPanelSession,
  followRedirectBack,
  sessionCookieOf,
  signInAs,
  TestProvider,
  signInAtProvider,
  nodeWithProviderLayer
} from "./identityProvider.ts"

const tokenOf = Effect.fnUntraced(function* (subject: string) {
  const refreshed = yield* refreshPanelSession(sessionCookieOf(yield* signInAs(subject)))
  assert.strictEqual(refreshed.status, 200, refreshed.text)
  return String(refreshed.body.access_token)
})

layer(nodeWithProviderLayer())("signing in at the identity provider", (it) => {
  it.effect("is offered by name", () =>
    Effect.gen(function* () {
      const { body } = yield* ask("GET", "/v1/auth/options")
      assert.deepStrictEqual(body, {
        password: true,
        passkey: true,
        provider: { name: "Keycloak" },
        proxy: false
      })
    })
  )

  it.effect("creates an account with a verified email and a workspace, and leads to the page", () =>
    Effect.gen(function* () {
      const { email, subject } = yield* addProviderUser()
      const returned = yield* signInAs(subject, { next: "/account/profile?a=b" })
      assert.strictEqual(destinationOf(returned), "/account/profile?a=b")
      assert.match(
        returned.headers.getSetCookie().find((one) => one.includes("session")) ?? "",
        /^__Host-panel_session=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=2592000; Secure$/
      )
      const { body: tokens } = yield* refreshPanelSession(sessionCookieOf(returned))
      const me = yield* ask("GET", "/v1/auth/me", { token: tokens.access_token })
      assert.include(me.body, { email, email_verified: true, name: "Ada Lovelace" })
      const workspaces = yield* ask("GET", "/v1/workspaces", { token: tokens.access_token })
      assert.lengthOf(workspaces.body.data, 1)
      const sessions = yield* ask("GET", "/v1/auth/sessions", { token: tokens.access_token })
      assert.strictEqual(sessions.body.data[0].began_with, "provider")
    })
  )

  it.effect("finds the account again after the email has changed at the provider", () =>
    Effect.gen(function* () {
      const { people } = yield* TestProvider
      const { email, subject } = yield* addProviderUser()
      yield* tokenOf(subject)
      people.set(subject, { email: `new.${email}`, email_verified: true })
      const me = yield* ask("GET", "/v1/auth/me", { token: yield* tokenOf(subject) })
      assert.strictEqual(me.body.email, email)
    })
  )

  it.effect("links an account whose email is verified, which keeps its password", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      yield* sql`UPDATE users SET email_verified_at = now() WHERE id = ${member.user_id}`
      const { subject } = yield* addProviderUser({ email: member.email.toUpperCase() })
      const me = yield* ask("GET", "/v1/auth/me", { token: yield* tokenOf(subject) })
      assert.strictEqual(me.body.id, member.user_id)
      assert.strictEqual(yield* accessStatus(member.access_token), "200")
      const body = { email: member.email, password }
      assert.strictEqual(statusAndError(yield* ask("POST", "/v1/auth/login", { body })), "200")
    })
  )

  it.effect("takes an account with an unverified email from whoever registered it", () =>
    Effect.gen(function* () {
      const stranger = yield* signUp()
      const { subject } = yield* addProviderUser({ email: stranger.email })
      const token = yield* tokenOf(subject)
      const me = yield* ask("GET", "/v1/auth/me", { token })
      assert.include(me.body, { id: stranger.user_id, email_verified: true })
      assert.strictEqual(yield* accessStatus(stranger.access_token), "401 invalid_token")
      const body = { email: stranger.email, password }
      assert.strictEqual(
        statusAndError(yield* ask("POST", "/v1/auth/login", { body })),
        "401 invalid_credentials"
      )
    })
  )

  it.effect("lets an account without a password remove its only passkey", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { email, subject } = yield* addProviderUser()
      const cookie = sessionCookieOf(yield* signInAs(subject))
      const [passkey] = yield* sql<{ readonly id: string }>`
        INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, created_at)
        SELECT gen_random_uuid(), id, 'key', gen_random_uuid()::text, '', 0, now()
        FROM users
        WHERE email = ${email}
        RETURNING id`
      const removed = yield* ask("POST", "/panel/session/passkeys/remove", {
        body: { id: passkey?.id },
        headers: { ...panelPageHeaders, cookie }
      })
      assert.strictEqual(removed.status, 200, removed.text)
    })
  )

  it.effect("does not link an email that the provider has not verified", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const email_verified of [false, undefined, "no", 0]) {
        const { subject } = yield* addProviderUser({ email: member.email, email_verified })
        const returned = yield* signInAs(subject, { next: "/account" })
        assert.strictEqual(
          destinationOf(returned),
          "/sign-in?problem=email_unverified&next=%2Faccount"
        )
        assert.strictEqual(sessionCookieOf(returned), "")
      }
      assert.strictEqual(yield* accessStatus(member.access_token), "200")
    })
  )

  it.effect("does not link a second identity to an account", () =>
    Effect.gen(function* () {
      const { email, subject } = yield* addProviderUser()
      yield* tokenOf(subject)
      const second = yield* addProviderUser({ email })
      assert.strictEqual(
        destinationOf(yield* signInAs(second.subject)),
        "/sign-in?problem=linked_otherwise"
      )
    })
  )

  it.effect("does not let a disabled account in", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { email, subject } = yield* addProviderUser()
      yield* tokenOf(subject)
      yield* sql`UPDATE users SET disabled_at = now() WHERE email = ${email}`
      assert.strictEqual(
        destinationOf(yield* signInAs(subject)),
        "/sign-in?problem=account_disabled"
      )
    })
  )

  it.effect("works once for each start, and only in the browser that started it", () =>
    Effect.gen(function* () {
      const { subject } = yield* addProviderUser()
      const { cookie, url } = yield* beginSignIn()
      const path = yield* signInAtProvider(url, subject)
      // An attacker sends the link to a victim who has not started a sign-in, or has started a
      // different one.
      const other = yield* beginSignIn()
      assert.strictEqual(
        destinationOf(yield* followRedirectBack(path, "")),
        "/sign-in?problem=expired"
      )
      assert.strictEqual(
        destinationOf(yield* followRedirectBack(path, other.cookie)),
        "/sign-in?problem=provider_rejected"
      )
      const returned = yield* followRedirectBack(path, cookie)
      assert.strictEqual(destinationOf(returned), "/")
      assert.match(
        returned.headers.getSetCookie().find((one) => one.includes("oidc")) ?? "",
        /^__Host-panel_oidc=;.*Max-Age=0/
      )
      // The code has been used, although this browser has kept its cookie.
      assert.strictEqual(
        destinationOf(yield* followRedirectBack(path, cookie)),
        "/sign-in?problem=provider_rejected"
      )
    })
  )

  it.effect("ends ten minutes after its start", () =>
    Effect.gen(function* () {
      const { subject } = yield* addProviderUser()
      const { cookie, url } = yield* beginSignIn()
      const path = yield* signInAtProvider(url, subject)
      yield* TestClock.adjust("601 seconds")
      assert.strictEqual(
        destinationOf(yield* followRedirectBack(path, cookie)),
        "/sign-in?problem=expired"
      )
    })
  )

  it.effect(
    "starts only from a page of the panel, at its public address, and leads back to it",
    () =>
      Effect.gen(function* () {
        const from = (headers: Readonly<Record<string, string>>, body: object = {}) =>
          ask("POST", "/panel/oidc", { body, headers: { ...panelPageHeaders, ...headers } })
        assert.strictEqual(
          statusAndError(yield* from({ "sec-fetch-site": "cross-site" })),
          "403 origin_refused"
        )
        assert.strictEqual(statusAndError(yield* from({ "x-panel": "0" })), "403 origin_refused")
        const elsewhere = yield* from({ origin: "https://other.test" })
        assert.deepStrictEqual(elsewhere.body, { problem: "other_address" })
        for (const next of ["//evil.example", "/\\evil.example", "https://evil.example", "/a\nb"]) {
          assert.strictEqual(
            statusAndError(yield* from({}, { next })),
            "422 validation_failed",
            next
          )
        }
      })
  )

  it.effect("says why the person was not let in", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestProvider
      const { cookie, url } = yield* beginSignIn()
      const state = new URL(url).searchParams.get("state") ?? ""
      const query = new URLSearchParams({ error: "access_denied", state, iss: issuer })
      const denied = `/panel/oidc/callback?${query}`
      assert.strictEqual(
        destinationOf(yield* followRedirectBack(denied, cookie)),
        "/sign-in?problem=denied"
      )
    })
  )

  it.effect("leaves no code in the log, and the provider's token only encrypted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { logs } = yield* TestApp
      const { subject } = yield* addProviderUser()
      const { cookie, url } = yield* beginSignIn()
      const path = yield* signInAtProvider(url, subject)
      yield* followRedirectBack(path, cookie)
      yield* followRedirectBack(path, cookie)
      const code = new URLSearchParams(path.split("?")[1]).get("code") ?? ""
      assert.isAbove(code.length, 20)
      assert.isAbove(logs.length, 0)
      assert.notInclude(logs.join(), code)
      const rows = yield* sql<{ readonly sealed_token: string }>`
        SELECT sealed_token
        FROM provider_sessions`
      assert.isAbove(rows.length, 0)
      for (const { sealed_token } of rows) assert.match(sealed_token, /^[\da-f]{12}\.[\w-]+$/)
    })
  )

  it.effect("is limited for each network", () =>
    Effect.gen(function* () {
      const headers = { "x-forwarded-for": "203.0.113.77" }
      for (let nr = 0; nr < 200; nr++) {
        assert.property((yield* beginSignIn({}, headers)).answer.body, "url")
      }
      assert.deepStrictEqual((yield* beginSignIn({}, headers)).answer.body, {
        problem: "too_many"
      })
    })
  )
})

layer(nodeWithProviderLayer({ allowedDomains: ["Example.com"] }, { registration: "closed" }))(
  "with allowed domains",
  (it) => {
    it.effect("admits users with an email in the domain, although registration is closed", () =>
      Effect.gen(function* () {
        const { subject } = yield* addProviderUser()
        assert.strictEqual(destinationOf(yield* signInAs(subject)), "/")
      })
    )

    it.effect("keeps others out", () =>
      Effect.gen(function* () {
        for (const email of ["ada@example.com.evil.test", "ada@notexample.com", "ada@evil.test"]) {
          const { subject } = yield* addProviderUser({ email })
          assert.strictEqual(
            destinationOf(yield* signInAs(subject)),
            "/sign-in?problem=domain_not_allowed"
          )
        }
      })
    )
  }
)

layer(nodeWithProviderLayer({}, { registration: "closed" }))("with closed registration", (it) => {
  it.effect("creates no account", () =>
    Effect.gen(function* () {
      const { subject } = yield* addProviderUser()
      assert.strictEqual(
        destinationOf(yield* signInAs(subject)),
        "/sign-in?problem=registration_closed"
      )
    })
  )
})
