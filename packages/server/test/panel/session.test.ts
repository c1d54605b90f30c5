import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { confirmTotp, currentCode, startTotp } from "../accounts/totp/totp.ts"
import {
  accessStatus,
  type Answer,
  ask,
  type AskOptions,
  assertErrorShape,
  statusAndError,
  password,
  randomEmail,
  signUp,
  runConcurrently
} from "../support/http.ts"
import { TestApp, testAppLayer, twoTestNodesLayer } from "../support/TestApp.ts"

const session = "/panel/session"

/** The headers that the panel's own page sends. */
const own = Effect.map(TestApp, ({ url }) => ({
  origin: url,
  "sec-fetch-site": "same-origin",
  "x-panel": "1"
}))

const asPanel = Effect.fnUntraced(function* (method: string, options: AskOptions = {}) {
  return yield* ask(method, session, {
    ...options,
    headers: { ...(yield* own), ...options.headers }
  })
})

const cookieOf = ({ headers }: Answer) => headers.get("set-cookie")?.split(";")[0] ?? ""

const logIn = (email: string) => asPanel("POST", { body: { email, password } })

const withCookie = (cookie: string, method: string, options: AskOptions = {}) =>
  asPanel(method, { ...options, headers: { ...options.headers, cookie } })

layer(twoTestNodesLayer())("the session of the panel", (it) => {
  it.effect("gives scripts an access token, and the refresh token to the browser alone", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const answer = yield* logIn(email)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.hasAllKeys(answer.body, ["access_token", "token_type", "expires_in"])
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.isNull(answer.headers.get("access-control-allow-origin"))
      assert.strictEqual(yield* accessStatus(answer.body.access_token, "otherUrl"), "200")
      assert.match(
        answer.headers.get("set-cookie") ?? "",
        /^panel_session=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/panel\/session; Max-Age=2592000$/
      )
    })
  )

  it.effect("is kept in a secure cookie if the browser is on https", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const headers = { origin: "https://scheduling.example.com" }
      const answer = yield* asPanel("POST", { body: { email, password }, headers })
      assert.match(
        answer.headers.get("set-cookie") ?? "",
        /^__Host-panel_session=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/; .*; Secure$/
      )
      const secure = cookieOf(answer)
      assert.strictEqual(statusAndError(yield* withCookie(secure, "PUT", { headers })), "200")
      // An attacker between a browser that uses plain HTTP and the service has set this cookie.
      const planted = cookieOf(yield* logIn(email))
      assert.strictEqual(statusAndError(yield* withCookie(planted, "PUT", { headers })), "204")
    })
  )

  it.effect("cannot be planted by a sibling host if the browser is on https", () =>
    Effect.gen(function* () {
      const headers = { origin: "https://scheduling.example.com" }
      const secure = Effect.fnUntraced(function* () {
        const { email } = yield* signUp()
        const answer = yield* asPanel("POST", { body: { email, password }, headers })
        return { cookie: cookieOf(answer), token: String(answer.body.access_token) }
      })
      const [reader, stranger] = [yield* secure(), yield* secure()]
      const value = stranger.cookie.split("=")[1] ?? ""
      for (const name of ["panel_session", "__Secure-panel_session"]) {
        const planted = `${name}=${value}`
        assert.strictEqual(
          statusAndError(yield* withCookie(planted, "PUT", { headers })),
          "204",
          name
        )
        const beside = `${planted}; ${reader.cookie}`
        // The user's session continues, because the rotated token stays valid for another ten
        // seconds.
        assert.strictEqual(
          statusAndError(yield* withCookie(beside, "PUT", { headers })),
          "200",
          name
        )
        assert.strictEqual(
          statusAndError(yield* withCookie(planted, "DELETE", { headers })),
          "204",
          name
        )
      }
      assert.strictEqual(yield* accessStatus(reader.token), "200")
      assert.strictEqual(yield* accessStatus(stranger.token), "200")
    })
  )

  it.effect("gets a new token at each refresh, and ends if a used token comes again", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const first = cookieOf(yield* logIn(email))
      const second = yield* withCookie(first, "PUT")
      assert.strictEqual(second.status, 200)
      assert.notStrictEqual(cookieOf(second), first)
      yield* TestClock.adjust("11 seconds")
      const stolen = yield* withCookie(first, "PUT")
      assert.strictEqual(statusAndError(stolen), "401 invalid_refresh_token")
      assert.match(stolen.headers.get("set-cookie") ?? "", /^panel_session=; .*Max-Age=0/)
      const rest = yield* withCookie(cookieOf(second), "PUT")
      assert.strictEqual(statusAndError(rest), "401 invalid_refresh_token")
    })
  )

  it.effect("survives two tabs that refresh simultaneously", () =>
    Effect.gen(function* () {
      const cookie = cookieOf(yield* logIn((yield* signUp()).email))
      const answers = yield* runConcurrently([withCookie(cookie, "PUT"), withCookie(cookie, "PUT")])
      assert.deepStrictEqual(answers.map(statusAndError), ["200", "200"])
      assert.strictEqual(new Set(answers.map(cookieOf)).size, 1)
    })
  )

  it.effect("does not exist before a login, which is no error", () =>
    Effect.gen(function* () {
      yield* signUp()
      assert.strictEqual(statusAndError(yield* asPanel("PUT")), "204")
      assert.strictEqual(statusAndError(yield* withCookie("panel_session=", "PUT")), "204")
      assert.strictEqual(
        statusAndError(yield* withCookie("panel_session=x", "PUT")),
        "401 invalid_refresh_token"
      )
      const two = "panel_session=a; panel_session=b"
      assert.strictEqual(statusAndError(yield* withCookie(two, "PUT")), "204")
    })
  )

  it.effect("ends at logout, together with its access tokens", () =>
    Effect.gen(function* () {
      const login = yield* logIn((yield* signUp()).email)
      const out = yield* withCookie(cookieOf(login), "DELETE")
      assert.strictEqual(out.status, 204)
      assert.match(out.headers.get("set-cookie") ?? "", /^panel_session=; .*Max-Age=0/)
      assert.strictEqual(yield* accessStatus(login.body.access_token), "401 invalid_token")
      const again = yield* withCookie(cookieOf(login), "PUT")
      assert.strictEqual(statusAndError(again), "401 invalid_refresh_token")
      assert.strictEqual(statusAndError(yield* withCookie(cookieOf(login), "DELETE")), "204")
      assert.strictEqual(statusAndError(yield* asPanel("DELETE")), "204")
    })
  )

  it.effect("requires the second factor, and accepts its code", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const secret = yield* startTotp(member)
      yield* confirmTotp(member, secret)
      const asked = yield* logIn(member.email)
      assert.strictEqual(statusAndError(asked), "401 totp_required")
      assert.isNull(asked.headers.get("set-cookie"))
      yield* TestClock.adjust("30 seconds")
      const credentials = { email: member.email, password, totp: yield* currentCode(secret) }
      assert.strictEqual(statusAndError(yield* asPanel("POST", { body: credentials })), "200")
      assert.strictEqual(
        statusAndError(yield* asPanel("POST", { body: credentials })),
        "401 invalid_code"
      )
    })
  )

  it.effect("is replaced when the password changes, and all other sessions end", () =>
    Effect.gen(function* () {
      const { access_token, email } = yield* signUp()
      const login = yield* logIn(email)
      const new_password = "another horse battery staple"
      const change = (cookie: string, current_password: string) =>
        withCookie(cookie, "PATCH", { body: { current_password, new_password } })
      const wrong = yield* change(cookieOf(login), "not the right password")
      assert.strictEqual(statusAndError(wrong), "401 invalid_credentials")
      const changed = yield* change(cookieOf(login), password)
      assert.strictEqual(changed.status, 200, changed.text)
      assert.hasAllKeys(changed.body, ["access_token", "token_type", "expires_in"])
      assert.strictEqual(yield* accessStatus(changed.body.access_token), "200")
      assert.strictEqual(yield* accessStatus(login.body.access_token), "401 invalid_token")
      assert.strictEqual(yield* accessStatus(access_token), "401 invalid_token")
      assert.strictEqual(statusAndError(yield* withCookie(cookieOf(changed), "PUT")), "200")
      for (const cookie of [cookieOf(login), ""]) {
        assert.strictEqual(
          statusAndError(yield* change(cookie, password)),
          "401 invalid_refresh_token"
        )
      }
      yield* TestClock.adjust("11 seconds")
      // A token that was replaced before the last rotation is treated as stolen.
      const used = yield* change(cookieOf(changed), new_password)
      assert.strictEqual(statusAndError(used), "401 invalid_refresh_token")
    })
  )

  it.effect("reports errors in the error shape of the API", () =>
    Effect.gen(function* () {
      const email = randomEmail()
      const cases: ReadonlyArray<readonly [AskOptions, string]> = [
        [{ body: { email, password } }, "401 invalid_credentials"],
        [{ body: { email } }, "422 validation_failed"],
        [{ body: { email, password, extra: 1 } }, "422 validation_failed"],
        [{ body: "[" }, "400 malformed_json"],
        [{ body: "{}", headers: { "content-type": "text/plain" } }, "415 unsupported_media_type"]
      ]
      for (const [options, expected] of cases) {
        const answer = yield* asPanel("POST", options)
        assertErrorShape(answer)
        assert.strictEqual(statusAndError(answer), expected)
      }
      assert.strictEqual(statusAndError(yield* asPanel("GET")), "405 method_not_allowed")
    })
  )

  it.effect.each([
    ["another origin", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["a sibling of the same site", { "sec-fetch-site": "same-site" }],
    ["a link or the address bar", { "sec-fetch-site": "none" }],
    ["a form, which has no header of ours", { "x-panel": "" }],
    ["no page at all", { origin: "" }],
    ["a sandboxed page", { origin: "null" }]
  ] as const)("is out of reach of %s", ([, headers]) =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const login = yield* logIn(email)
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const body = method === "POST" ? { email, password } : undefined
        const answer = yield* withCookie(cookieOf(login), method, { body, headers })
        assertErrorShape(answer)
        assert.strictEqual(statusAndError(answer), "403 origin_refused", method)
        assert.isNull(answer.headers.get("set-cookie"))
      }
      assert.strictEqual(yield* accessStatus(login.body.access_token), "200")
    })
  )

  it.effect("is only for pages of the same host on plain http, without Sec-Fetch-Site", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const from = (origin: string) =>
        ask("POST", session, { body: { email, password }, headers: { origin, "x-panel": "1" } })
      const { url } = yield* TestApp
      assert.strictEqual(statusAndError(yield* from(url)), "200")
      for (const origin of [
        "http://evil.example",
        `${url}.evil.example`,
        url.replace(/:\d+$/, "")
      ]) {
        assert.strictEqual(statusAndError(yield* from(origin)), "403 origin_refused")
      }
    })
  )

  it.effect("gives no access to the API, which ignores cookies", () =>
    Effect.gen(function* () {
      const { email, workspace } = yield* signUp()
      const cookie = cookieOf(yield* logIn(email))
      for (const path of ["/v1/whoami", "/v1/auth/me", `${workspace}/cron`]) {
        const answer = yield* ask("GET", path, { headers: { ...(yield* own), cookie } })
        assert.strictEqual(statusAndError(answer), "401 missing_credentials")
      }
    })
  )
})

const app = "https://app.example.com"

layer(testAppLayer({ allowedOrigins: [app] }))("an origin that is allowed to log in", (it) => {
  it.effect("gets no session of the panel", () =>
    Effect.gen(function* () {
      const { email } = yield* signUp()
      const headers = { origin: app, "sec-fetch-site": "cross-site" }
      const answer = yield* asPanel("POST", { body: { email, password }, headers })
      assert.strictEqual(statusAndError(answer), "403 origin_refused")
      const asked = yield* ask("OPTIONS", session, {
        headers: { origin: app, "access-control-request-headers": "x-panel" }
      })
      assert.notInclude(asked.headers.get("access-control-allow-headers") ?? "", "x-panel")
      assert.isNull(asked.headers.get("access-control-allow-credentials"))
    })
  )
})
