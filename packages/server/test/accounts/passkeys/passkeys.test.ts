import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, type Member, statusAndError, password, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { makeAuthenticator } from "./authenticator.ts"

const origin = "https://scheduling.test"
const rpId = "scheduling.test"
const ownPage = { origin, "sec-fetch-site": "same-origin", "x-panel": "1" }

const post = (path: string, body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  ask("POST", path, { body, headers: { ...ownPage, ...headers } })

const asMember = (
  { refresh_token }: Pick<Member, "refresh_token">,
  path: string,
  body: object = {}
) =>
  post(`/panel/session/passkeys/${path}`, body, { cookie: `__Host-panel_session=${refresh_token}` })

type Device = ReturnType<typeof makeAuthenticator>

const beginAdding = Effect.fnUntraced(function* (member: Member, body: object = proof) {
  const begun = yield* asMember(member, "options", body)
  assert.strictEqual(begun.status, 200, begun.text)
  return begun.body as {
    readonly challenge: string
    readonly options: { readonly challenge: string; readonly excludeCredentials: object }
  }
})

const proof = { current_password: password }

const addTo = Effect.fnUntraced(function* (member: Member, device: Device, name = "Laptop") {
  const { challenge, options } = yield* beginAdding(member)
  const response = device.register({ origin, rpId, challenge: options.challenge })
  const added = yield* asMember(member, "add", { challenge, response, name })
  assert.strictEqual(added.status, 200, added.text)
  return String(added.body.id)
})

const beginSignIn = Effect.gen(function* () {
  const begun = yield* post("/panel/passkey/options")
  assert.strictEqual(begun.status, 200, begun.text)
  return {
    sealed: String(begun.body.challenge),
    challenge: String(begun.body.options.challenge)
  }
})

const signInWith = Effect.fnUntraced(function* (
  device: Device,
  change: Partial<Parameters<Device["signIn"]>[0]> = {}
) {
  const { challenge, sealed } = yield* beginSignIn
  const response = device.signIn({ origin, rpId, challenge, ...change })
  return yield* post("/panel/passkey", { challenge: sealed, response })
})

const rejected = "401 invalid_credentials"

layer(testAppLayer({ publicUrl: origin }))("a passkey", (it) => {
  it.effect("signs in to a session that says so", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const device = makeAuthenticator()
      yield* addTo(member, device)
      const answer = yield* signInWith(device)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.match(
        answer.headers.get("set-cookie") ?? "",
        /^__Host-panel_session=[\w.-]+; HttpOnly/
      )
      const sessions = yield* ask("GET", "/v1/auth/sessions", { token: answer.body.access_token })
      assert.deepStrictEqual(
        sessions.body.data.map(({ began_with }: { readonly began_with: string }) => began_with),
        ["passkey", "password"]
      )
      const { body } = yield* asMember(member, "list")
      assert.include(body.data[0], { name: "Laptop", last_used_at: "2026-06-01T12:00:00.000Z" })
    })
  )

  it.effect("is one of several, each with a name", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const devices = [makeAuthenticator(), makeAuthenticator()] as const
      yield* addTo(member, devices[0], "Laptop")
      const id = yield* addTo(member, devices[1], "Phone")
      for (const device of devices)
        assert.strictEqual(statusAndError(yield* signInWith(device)), "200")
      assert.strictEqual(
        statusAndError(yield* asMember(member, "rename", { id, name: "Tablet" })),
        "200"
      )
      const { body } = yield* asMember(member, "list")
      assert.deepStrictEqual(
        body.data.map(({ name }: { readonly name: string }) => name),
        ["Tablet", "Laptop"]
      )
      const stranger = yield* signUp()
      for (const change of [
        asMember(stranger, "rename", { id, name: "Mine" }),
        asMember(stranger, "remove", { id, ...proof })
      ]) {
        assert.strictEqual(statusAndError(yield* change), "404 not_found")
      }
    })
  )

  it.effect(
    "is rejected from another origin or site, without the person, or for another task",
    () =>
      Effect.gen(function* () {
        const member = yield* signUp()
        const device = makeAuthenticator()
        yield* addTo(member, device)
        for (const lie of [
          { origin: "https://scheduling.test.evil.example" },
          { origin: "http://scheduling.test" },
          { rpId: "evil.example" },
          { isUserVerified: false },
          { challenge: "another" }
        ]) {
          assert.strictEqual(
            statusAndError(yield* signInWith(device, lie)),
            rejected,
            JSON.stringify(lie)
          )
        }
        assert.strictEqual(statusAndError(yield* signInWith(makeAuthenticator())), rejected)
        // The challenge was issued for adding a passkey.
        const begun = yield* beginAdding(member)
        const response = device.signIn({ origin, rpId, challenge: begun.options.challenge })
        assert.strictEqual(
          statusAndError(yield* post("/panel/passkey", { challenge: begun.challenge, response })),
          rejected
        )
        for (const junk of [
          {},
          { id: 1 },
          { id: "x".repeat(40_000) },
          { id: null, response: [] }
        ]) {
          const { sealed } = yield* beginSignIn
          const answer = yield* post("/panel/passkey", { challenge: sealed, response: junk })
          assert.include([401, 422], answer.status, answer.text)
        }
        assert.strictEqual(statusAndError(yield* signInWith(device)), "200")
      })
  )

  it.effect("is rejected as a copy when its counter does not rise", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const device = makeAuthenticator()
      const id = yield* addTo(member, device)
      for (let use = 0; use < 3; use++) {
        assert.strictEqual(statusAndError(yield* signInWith(device)), "200")
      }
      device.setCounter(1)
      assert.strictEqual(statusAndError(yield* signInWith(device)), rejected)
      device.setCounter(2)
      assert.strictEqual(statusAndError(yield* signInWith(device)), rejected)
      const events = yield* sql`
        SELECT details
        FROM audit_events
        WHERE action = 'passkey.clone_detected'
          AND subject_id = ${id}`
      assert.deepStrictEqual(
        events.map(({ details }) => details),
        [
          { counter: 2, last_counter: 3 },
          { counter: 3, last_counter: 3 }
        ]
      )
    })
  )

  it.effect("signs each challenge once, within five minutes", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const device = makeAuthenticator()
      yield* addTo(member, device)
      const first = yield* beginSignIn
      const response = device.signIn({ origin, rpId, challenge: first.challenge })
      const body = { challenge: first.sealed, response }
      assert.strictEqual(statusAndError(yield* post("/panel/passkey", body)), "200")
      assert.strictEqual(statusAndError(yield* post("/panel/passkey", body)), rejected)
      const late = yield* beginSignIn
      yield* TestClock.adjust("301 seconds")
      const lateResponse = device.signIn({ origin, rpId, challenge: late.challenge })
      assert.strictEqual(
        statusAndError(
          yield* post("/panel/passkey", { challenge: late.sealed, response: lateResponse })
        ),
        rejected
      )
    })
  )

  it.effect("does not sign in after its removal, nor to a disabled account", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const [kept, lost] = [makeAuthenticator(), makeAuthenticator()]
      yield* addTo(member, kept)
      const id = yield* addTo(member, lost)
      assert.strictEqual(statusAndError(yield* asMember(member, "remove", { id, ...proof })), "200")
      assert.strictEqual(statusAndError(yield* signInWith(lost)), rejected)
      assert.strictEqual(statusAndError(yield* signInWith(kept)), "200")
      yield* sql`UPDATE users SET disabled_at = now() WHERE id = ${member.user_id}`
      assert.strictEqual(statusAndError(yield* signInWith(kept)), rejected)
    })
  )

  it.effect("is added and removed only with the password, by a page of the panel", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const id = yield* addTo(member, makeAuthenticator())
      for (const [body, expected] of [
        [{}, "422 validation_failed"],
        [{ current_password: "not the password" }, rejected]
      ] as const) {
        assert.strictEqual(statusAndError(yield* asMember(member, "options", body)), expected)
        assert.strictEqual(
          statusAndError(yield* asMember(member, "remove", { id, ...body })),
          expected
        )
      }
      const elsewhere = yield* post(
        "/panel/passkey/options",
        {},
        { "sec-fetch-site": "cross-site" }
      )
      assert.strictEqual(statusAndError(elsewhere), "403 origin_refused")
      const nobody = yield* post("/panel/session/passkeys/list")
      assert.strictEqual(statusAndError(nobody), "401 invalid_refresh_token")
      // An access token is not enough.
      const byToken = yield* ask("POST", "/panel/session/passkeys/list", {
        token: member.access_token,
        body: {},
        headers: ownPage
      })
      assert.strictEqual(statusAndError(byToken), "401 invalid_refresh_token")
    })
  )

  it.effect("is added only to the account that began, and once", () =>
    Effect.gen(function* () {
      const [member, other] = [yield* signUp(), yield* signUp()]
      const device = makeAuthenticator()
      const { challenge, options } = yield* beginAdding(member)
      const response = device.register({ origin, rpId, challenge: options.challenge })
      const body = { challenge, response, name: "Laptop" }
      assert.strictEqual(statusAndError(yield* asMember(other, "add", body)), rejected)
      const phished = device.register({
        origin: "https://evil.example",
        rpId,
        challenge: options.challenge
      })
      assert.strictEqual(
        statusAndError(yield* asMember(member, "add", { ...body, response: phished })),
        rejected
      )
      assert.strictEqual(statusAndError(yield* asMember(member, "add", body)), "200")
      assert.strictEqual(statusAndError(yield* asMember(member, "add", body)), rejected)
      const again = yield* beginAdding(member)
      assert.lengthOf(again.options.excludeCredentials as ReadonlyArray<unknown>, 1)
    })
  )

  it.effect("is not removed if it is the only way into an account", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const id = yield* addTo(member, makeAuthenticator())
      yield* sql`UPDATE users SET has_password = false WHERE id = ${member.user_id}`
      assert.strictEqual(statusAndError(yield* asMember(member, "remove", { id })), "409 conflict")
      // The account has no password, so a recent sign-in is sufficient.
      const begun = yield* asMember(member, "options")
      const device = makeAuthenticator()
      const { challenge } = begun.body.options
      const response = device.register({ origin, rpId, challenge })
      const input = { challenge: begun.body.challenge, response, name: "Phone" }
      assert.strictEqual(statusAndError(yield* asMember(member, "add", input)), "200")
      assert.strictEqual(statusAndError(yield* asMember(member, "remove", { id })), "200")
      yield* TestClock.adjust("11 minutes")
      assert.strictEqual(statusAndError(yield* asMember(member, "options")), rejected)
    })
  )

  it.effect("is one of at most 20", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      yield* sql`
        INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, created_at)
        SELECT gen_random_uuid(), ${member.user_id}, 'key', gen_random_uuid()::text, '', 0, now()
        FROM generate_series(1, 20)`
      assert.strictEqual(statusAndError(yield* asMember(member, "options", proof)), "409 conflict")
    })
  )

  it.effect("costs a network no more than 200 tries in 15 minutes", () =>
    Effect.gen(function* () {
      const headers = { "x-forwarded-for": "203.0.113.78" }
      for (let nr = 0; nr < 200; nr++) yield* post("/panel/passkey/options", {}, headers)
      assert.strictEqual(
        statusAndError(yield* post("/panel/passkey/options", {}, headers)),
        "429 rate_limited"
      )
    })
  )
})

layer(testAppLayer({ publicUrl: "http://192.0.2.1:4000" }))("without a host name", (it) => {
  it.effect("there are no passkeys", () =>
    Effect.gen(function* () {
      const { body } = yield* ask("GET", "/v1/auth/options")
      assert.strictEqual(body.passkey, false)
      const headers = { origin: "http://192.0.2.1:4000" }
      assert.strictEqual(
        statusAndError(yield* post("/panel/passkey/options", {}, headers)),
        "409 conflict"
      )
    })
  )
})
