import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  accessStatus,
  ask,
  createKey,
  logIn,
  type Member,
  statusAndError,
  password,
  randomEmail,
  randomIp,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { collide } from "../../support/collide.ts"
import { startNode, TestApp, twoTestNodesLayer, testConfig } from "../../support/TestApp.ts"

const register = (input: Readonly<Record<string, unknown>>, at: "url" | "otherUrl" = "url") =>
  ask("POST", "/v1/auth/register", { body: { email: randomEmail(), password, ...input }, at })

const newPassword = "another battery, another staple"

layer(twoTestNodesLayer())("an account", (it) => {
  it.effect("is registered with its first workspace", () =>
    Effect.gen(function* () {
      const email = randomEmail()
      const { body, status } = yield* register({ email: ` ${email.toUpperCase()}`, name: " Ada " })
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(body, {
        user: {
          id: body.user.id,
          email,
          email_verified: false,
          pending_email: null,
          name: "Ada",
          has_password: true,
          created_at: body.user.created_at
        },
        workspace: {
          id: body.workspace.id,
          name: "Ada's workspace",
          created_at: body.workspace.created_at,
          stopped_at: null
        }
      })
      const nameless = yield* register({})
      assert.isNull(nameless.body.user.name)
      const login = yield* logIn(email)
      const me = yield* ask("GET", "/v1/auth/me", { token: login.body.access_token })
      assert.deepStrictEqual(me.body, body.user)
      const workspaces = yield* ask("GET", "/v1/workspaces", { token: login.body.access_token })
      assert.deepStrictEqual(workspaces.body, { data: [body.workspace], next_cursor: null })
    })
  )

  it.effect("exists once per email, even if several are registered simultaneously", () =>
    Effect.gen(function* () {
      const email = randomEmail()
      const answers = yield* runConcurrently(
        times(6, (index) => register({ email }, index % 2 === 0 ? "url" : "otherUrl"))
      )
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
        "201",
        ...times(5, () => "409 email_taken")
      ])
      const again = yield* register({ email: email.toUpperCase() })
      assert.strictEqual(statusAndError(again), "409 email_taken")
      const sql = yield* SqlClient.SqlClient
      const left = yield* sql`
        SELECT id
        FROM workspaces
        WHERE name = ${`${email.slice(0, email.indexOf("@"))}'s workspace`}`
      assert.strictEqual(left.length, 1)
    })
  )

  it.effect("needs a password of 12 to 256 characters that is not common", () =>
    Effect.gen(function* () {
      const email = `${"long-enough"}-${randomEmail()}`
      for (const bad of [
        "x".repeat(11),
        "x".repeat(257),
        email,
        email.toUpperCase(),
        "123456789abc",
        "123456789ABC",
        "a\u0000bcdefghijklm",
        "\ud800bcdefghijklm",
        123_456_789_012,
        null
      ]) {
        const answer = yield* register({ email, password: bad })
        assert.strictEqual(statusAndError(answer), "422 validation_failed", String(bad))
        assert.deepStrictEqual(answer.body.detail.issues[0].path, ["password"])
        // A message that quotes the rejected password would expose it in clients' logs.
        if (typeof bad === "string") assert.notInclude(answer.text, bad.slice(0, 11))
      }
      for (const good of ["zq8!  spaces kept ", "пароль из слов", "x7".repeat(128)]) {
        const registered = yield* register({ password: good })
        assert.strictEqual(registered.status, 201)
        const login = yield* logIn(registered.body.user.email, { password: good })
        assert.strictEqual(login.status, 200)
        const trimmed = yield* logIn(registered.body.user.email, { password: `${good} ` })
        assert.strictEqual(trimmed.status === 200, false)
      }
    })
  )

  it.effect("needs a valid email, and no unknown fields", () =>
    Effect.gen(function* () {
      for (const email of [
        "",
        "ada",
        "ada@",
        "@example.com",
        "ada@example",
        "a b@example.com",
        "ada@exa mple.com",
        "ada@example.com\r\nBcc: eve@example.com",
        "ada@@example.com",
        "ada\u0000@example.com",
        `${"a".repeat(250)}@example.com`,
        7
      ]) {
        assert.strictEqual(statusAndError(yield* register({ email })), "422 validation_failed")
      }
      const admin = yield* register({ role: "admin" })
      assert.deepStrictEqual(admin.body.detail.issues[0].path, ["role"])
    })
  )

  it.effect("cannot be registered if registration is closed", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const url = yield* startNode({ ...testConfig, registration: "closed" })
      yield* Effect.gen(function* () {
        assert.strictEqual(statusAndError(yield* register({})), "403 registration_closed")
        // The rejection does not reveal whether an account exists.
        assert.strictEqual(statusAndError(yield* register({ email })), "403 registration_closed")
        assert.strictEqual(statusAndError(yield* logIn(email)), "200")
      }).pipe(Effect.provideService(TestApp, { url, otherUrl: url, logs: [] }))
    })
  )

  it.effect("changes its name freely, and its email with the password", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const update = (body: unknown) =>
        ask("PATCH", "/v1/auth/me", { token: member.access_token, body })
      assert.strictEqual((yield* update({ name: "Grace" })).body.name, "Grace")
      assert.strictEqual((yield* update({})).body.name, "Grace")
      assert.isNull((yield* update({ name: null })).body.name)
      assert.strictEqual(statusAndError(yield* update({ name: " " })), "422 validation_failed")
      // Sending the current email does not count as a change.
      assert.strictEqual((yield* update({ email: member.email })).status, 200)

      const email = randomEmail()
      // The throttle would reject this many wrong passwords.
      for (let tried = 0; tried < 12; tried++) {
        const unconfirmed = yield* update({ email })
        assert.strictEqual(statusAndError(unconfirmed), "422 validation_failed")
        assert.deepStrictEqual(unconfirmed.body.detail.issues[0].path, ["current_password"])
      }
      const wrong = yield* update({ email, current_password: "wrong", name: "Eve" })
      assert.strictEqual(statusAndError(wrong), "401 invalid_credentials")
      const taken = { email: (yield* signUp()).email, current_password: password }
      assert.strictEqual(statusAndError(yield* update(taken)), "409 email_taken")
      const changed = yield* update({ email, current_password: password })
      assert.deepInclude(changed.body, { email: member.email, pending_email: email, name: null })
      assert.strictEqual(statusAndError(yield* logIn(member.email)), "200")
    })
  )

  it.effect("is protected by the login throttle wherever its password is required", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const headers = { "x-forwarded-for": randomIp() }
      const token = member.access_token
      const wrong = { current_password: "wrong" }
      const tries = [
        ask("PATCH", "/v1/auth/me", { token, headers, body: { ...wrong, email: randomEmail() } }),
        ask("DELETE", "/v1/auth/me", { token, headers, body: wrong }),
        ask("POST", "/v1/auth/password", {
          token,
          headers,
          body: { ...wrong, new_password: newPassword }
        }),
        logIn(member.email, { headers, password: "wrong" })
      ]
      const answers = yield* runConcurrently(times(12, (index) => tries[index % 4] ?? tries[0]!))
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
        ...times(10, () => "401 invalid_credentials"),
        ...times(2, () => "429 rate_limited")
      ])
    })
  )

  it.effect("changes its password, which ends all sessions and starts a new one", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = member.access_token
      const other = (yield* logIn(member.email)).body
      const key = yield* createKey(member)
      const change = (current_password: string, new_password: string) =>
        ask("POST", "/v1/auth/password", { token, body: { current_password, new_password } })
      assert.strictEqual(
        statusAndError(yield* change("wrong", newPassword)),
        "401 invalid_credentials"
      )
      const common = yield* change(password, "123456789abc")
      assert.deepStrictEqual(common.body.detail.issues[0].path, ["new_password"])
      assert.strictEqual(yield* accessStatus(other.access_token), "200")

      const changed = yield* change(password, newPassword)
      assert.strictEqual(statusAndError(changed), "200")
      assert.strictEqual(changed.headers.get("cache-control"), "no-store")
      const refresh = ({ refresh_token }: { readonly refresh_token: string }) =>
        Effect.map(ask("POST", "/v1/auth/refresh", { body: { refresh_token } }), statusAndError)
      for (const earlier of [member, other]) {
        assert.strictEqual(
          yield* accessStatus(earlier.access_token, "otherUrl"),
          "401 invalid_token"
        )
        assert.strictEqual(yield* refresh(earlier), "401 invalid_refresh_token")
      }
      assert.strictEqual(yield* accessStatus(changed.body.access_token, "otherUrl"), "200")
      assert.strictEqual(yield* refresh(changed.body), "200")
      assert.strictEqual(statusAndError(yield* logIn(member.email)), "401 invalid_credentials")
      const login = yield* logIn(member.email, { password: newPassword })
      assert.strictEqual(login.status, 200)
      assert.strictEqual(yield* accessStatus(key.key), "200")
    })
  )

  it.effect("gets no session from a login during a change of the password", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const body = { current_password: password, new_password: newPassword }
      const [changed] = yield* collide(
        sql`SELECT id FROM users WHERE id = ${member.user_id} FOR UPDATE`,
        [
          ask("POST", "/v1/auth/password", { token: member.access_token, body }),
          logIn(member.email, { at: "otherUrl" })
        ]
      )
      assert.strictEqual(statusAndError(changed!), "200")
      const sessions = yield* sql`SELECT id FROM sessions WHERE user_id = ${member.user_id}`
      assert.strictEqual(sessions.length, 1)
    })
  )

  it.effect("has no pending email after a change of the password, whatever else changes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const change = ({ access_token }: Member, body: object) =>
        ask("PATCH", "/v1/auth/me", { token: access_token, body, at: "otherUrl" })
      const raceWithPassword = Effect.fnUntraced(function* (member: Member, changes: object) {
        const body = { current_password: password, new_password: newPassword }
        const [replaced, changed] = yield* collide(
          sql`SELECT id FROM users WHERE id = ${member.user_id} FOR UPDATE`,
          [
            ask("POST", "/v1/auth/password", { token: member.access_token, body }),
            change(member, changes)
          ]
        )
        const token: string = replaced!.body.access_token
        const { body: user } = yield* ask("GET", "/v1/auth/me", { token })
        return { status: statusAndError(changed!), pending: user.pending_email, name: user.name }
      })
      const email = randomEmail()

      const renamed = yield* signUp()
      yield* change(renamed, { email, current_password: password })
      const afterName = yield* raceWithPassword(renamed, { name: "Ada" })
      assert.deepStrictEqual(afterName, { status: "200", pending: null, name: "Ada" })

      const changes = { email, current_password: password }
      const { pending, status } = yield* raceWithPassword(yield* signUp(), changes)
      assert.oneOf(status, ["200", "401 invalid_credentials"])
      assert.isNull(pending)
    })
  )

  it.effect(
    "is deleted with the workspaces that only it owns, and their keys stop working at once",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const member = yield* signUp()
        const token = member.access_token
        const { key } = yield* createKey(member)
        const remove = (current_password?: string) =>
          ask("DELETE", "/v1/auth/me", { token, body: { current_password } })
        assert.strictEqual(statusAndError(yield* remove()), "422 validation_failed")
        assert.strictEqual(statusAndError(yield* remove("wrong")), "401 invalid_credentials")
        assert.strictEqual(yield* accessStatus(key), "200")
        // A workspace created during the deletion must also be deleted, or its creation must be
        // rejected.
        const [created, removed] = yield* collide(
          sql`SELECT id FROM users WHERE id = ${member.user_id} FOR UPDATE`,
          [
            ask("POST", "/v1/workspaces", { token, body: { name: "late" }, at: "otherUrl" }),
            remove(password)
          ]
        )
        assert.strictEqual(statusAndError(removed!), "204")
        assert.oneOf(statusAndError(created!), ["201", "401 invalid_token"])
        assert.strictEqual(yield* accessStatus(key, "otherUrl"), "401 invalid_api_key")
        assert.strictEqual(yield* accessStatus(token, "otherUrl"), "401 invalid_token")
        assert.strictEqual(statusAndError(yield* logIn(member.email)), "401 invalid_credentials")
        const ids = [member.workspace_id, created?.body.id ?? member.workspace_id]
        const left = yield* sql`SELECT id FROM workspaces WHERE id = ANY (${ids}::uuid[])`
        assert.deepStrictEqual(left, [])
        // The audit events remain.
        const events = yield* sql<{ action: string }>`
        SELECT action
        FROM audit_events
        WHERE user_id = ${member.user_id}
        ORDER BY id`
        assert.includeMembers(
          events.map(({ action }) => action),
          ["account.registered", "session.started", "workspace.deleted", "account.deleted"]
        )
        assert.strictEqual((yield* register({ email: member.email })).status, 201)
      })
  )

  it.effect("without a password is changed and deleted only after a recent sign-in", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      yield* sql`UPDATE users SET has_password = false WHERE id = ${member.user_id}`
      const started = yield* DateTime.nowAsDate
      const beginAt = (minutesAgo: number) =>
        sql`
          UPDATE sessions
          SET created_at = ${new Date(started.getTime() - minutesAgo * 60_000)}
          WHERE user_id = ${member.user_id}`
      // Refreshing a session does not count as a recent sign-in.
      const refreshed = yield* ask("POST", "/v1/auth/refresh", {
        body: { refresh_token: member.refresh_token }
      })
      const token = String(refreshed.body.access_token)
      const changeEmail = ask("PATCH", "/v1/auth/me", { token, body: { email: randomEmail() } })
      // Nobody knows this account's password, so only a recent sign-in is accepted.
      const remove = (body: object) => ask("DELETE", "/v1/auth/me", { token, body })
      yield* beginAt(11)
      assert.strictEqual(statusAndError(yield* changeEmail), "401 invalid_credentials")
      assert.strictEqual(statusAndError(yield* remove({})), "401 invalid_credentials")
      assert.strictEqual(
        statusAndError(yield* remove({ current_password: password })),
        "401 invalid_credentials"
      )
      yield* beginAt(9)
      const changed = yield* changeEmail
      assert.strictEqual(changed.status, 200, changed.text)
      assert.isFalse(changed.body.has_password)
      assert.strictEqual(statusAndError(yield* remove({})), "204")
      assert.strictEqual(yield* accessStatus(token), "401 invalid_token")
    })
  )
})
