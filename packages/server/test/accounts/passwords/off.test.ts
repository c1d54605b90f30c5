import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ask, statusAndError, password, randomEmail, signUp } from "../../support/http.ts"
import {
  addProviderUser,
  destinationOf,
  panelPageHeaders,
  signInAs,
  nodeWithProviderLayer
} from "../oidc/identityProvider.ts"

layer(nodeWithProviderLayer({}, { passwordLogin: "off" }))("a server without passwords", (it) => {
  it.effect("says so, and offers no first account to register", () =>
    Effect.gen(function* () {
      const { body } = yield* ask("GET", "/v1/auth/options")
      assert.isFalse(body.password)
      const answer = yield* ask("PUT", "/panel/session", { headers: panelPageHeaders })
      assert.strictEqual(answer.status, 204)
    })
  )

  it.effect("registers, signs in, resets and changes nothing with a password", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { access_token: token, email } = member
      const cookie = `__Host-panel_session=${member.refresh_token}`
      const change = { current_password: password, new_password: "a new and long password" }
      for (const [method, path, options] of [
        ["POST", "/v1/auth/register", { body: { email: "new@example.com", password } }],
        ["POST", "/v1/auth/login", { body: { email, password } }],
        ["POST", "/v1/auth/login", { body: { email, password: "wrong" } }],
        ["POST", "/v1/auth/password/forgot", { body: { email } }],
        ["POST", "/v1/auth/password/reset", { body: { token: "t", new_password: password } }],
        ["POST", "/v1/auth/password", { token, body: change }],
        ["POST", "/panel/session", { body: { email, password }, headers: panelPageHeaders }],
        ["PATCH", "/panel/session", { body: change, headers: { ...panelPageHeaders, cookie } }]
      ] as const) {
        assert.strictEqual(
          statusAndError(yield* ask(method, path, options)),
          "403 password_login_off",
          `${method} ${path}`
        )
      }
    })
  )

  it.effect("keeps sessions and API keys, and signs in at the provider", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { refresh_token } = member
      const rotated = yield* ask("POST", "/v1/auth/refresh", { body: { refresh_token } })
      assert.strictEqual(rotated.status, 200, rotated.text)
      const token = String(rotated.body.access_token)
      const key = yield* ask("POST", `${member.workspace}/api-keys`, {
        token,
        body: { name: "CI", scopes: ["tasks:read"] }
      })
      assert.strictEqual(key.status, 201, key.text)
      const tasks = yield* ask("GET", `${member.workspace}/cron`, { token: key.body.key })
      assert.strictEqual(tasks.status, 200, tasks.text)
      const { subject } = yield* addProviderUser()
      assert.strictEqual(destinationOf(yield* signInAs(subject)), "/")
    })
  )

  it.effect("asks an account that has a password for a recent sign-in instead", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { access_token: token } = member
      const cookie = `__Host-panel_session=${member.refresh_token}`
      const begin = ask("POST", "/panel/session/passkeys/options", {
        body: {},
        headers: { ...panelPageHeaders, cookie }
      })
      const changeEmail = () =>
        ask("PATCH", "/v1/auth/me", { token, body: { email: randomEmail() } })
      const remove = ask("DELETE", "/v1/auth/me", { token, body: {} })
      assert.strictEqual(statusAndError(yield* begin), "200")
      assert.strictEqual(statusAndError(yield* changeEmail()), "200")
      yield* TestClock.adjust("11 minutes")
      for (const late of [begin, changeEmail(), remove]) {
        assert.strictEqual(statusAndError(yield* late), "401 invalid_credentials")
      }
    })
  )
})
