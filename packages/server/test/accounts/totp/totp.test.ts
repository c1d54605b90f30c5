import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { loadArgon2 } from "../../../src/accounts/passwords/argon2.ts"
import { collide } from "../../support/collide.ts"
import {
  ask,
  type Member,
  statusAndError,
  password,
  randomIp,
  signUp,
  times,
  runConcurrently
} from "../../support/http.ts"
import { startNode, twoTestNodesLayer, testConfig } from "../../support/TestApp.ts"
import { checkValueOf, testSecret } from "../../support/testSecret.ts"
import { currentCode, confirmTotp, startTotp } from "./totp.ts"

const logInWith = (
  { email }: Member,
  totp?: string,
  more: { readonly password?: string; readonly at?: "url" | "otherUrl" } = {}
) =>
  ask("POST", "/v1/auth/login", {
    at: more.at ?? "url",
    headers: { "x-forwarded-for": randomIp() },
    body: {
      email,
      password: more.password ?? password,
      ...(totp === undefined ? {} : { totp })
    }
  })

const protectedMember = Effect.gen(function* () {
  const member = yield* signUp()
  const secret = yield* startTotp(member)
  const codes = yield* confirmTotp(member, secret)
  yield* TestClock.adjust("30 seconds")
  return { member, secret, codes }
})

const nextStep = TestClock.adjust("30 seconds")

layer(twoTestNodesLayer())("a second factor", (it) => {
  it.effect("is required at login after its confirmation, and only after the right password", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const secret = yield* startTotp(member)
      assert.strictEqual(statusAndError(yield* logInWith(member)), "200")
      const wrong = yield* ask("POST", "/v1/auth/totp/confirm", {
        token: member.access_token,
        body: { code: "000000" }
      })
      assert.strictEqual(statusAndError(wrong), "401 invalid_code")
      const codes = yield* confirmTotp(member, secret)
      assert.strictEqual(new Set(codes).size, 10)
      yield* nextStep
      assert.strictEqual(statusAndError(yield* logInWith(member)), "401 totp_required")
      const code = yield* currentCode(secret)
      for (const totp of [undefined, code, codes[0]]) {
        const answer = yield* logInWith(member, totp, { password: "not the right password" })
        assert.strictEqual(statusAndError(answer), "401 invalid_credentials")
      }
      assert.strictEqual(statusAndError(yield* logInWith(member, "000000")), "401 invalid_code")
      assert.strictEqual(
        statusAndError(yield* logInWith(member, ` ${code.slice(0, 3)} ${code.slice(3)}`)),
        "200"
      )
    })
  )

  it.effect("accepts each code once, also in two simultaneous logins", () =>
    Effect.gen(function* () {
      const { codes, member, secret } = yield* protectedMember
      for (const code of [yield* currentCode(secret), codes[0]!]) {
        const answers = yield* runConcurrently([
          logInWith(member, code),
          logInWith(member, code, { at: "otherUrl" })
        ])
        assert.deepStrictEqual(answers.map(statusAndError).toSorted(), ["200", "401 invalid_code"])
        assert.strictEqual(statusAndError(yield* logInWith(member, code)), "401 invalid_code")
      }
      assert.strictEqual(
        statusAndError(yield* logInWith(member, codes[1]!.toUpperCase().replace("-", " "))),
        "200"
      )
      const status = yield* ask("GET", "/v1/auth/totp", { token: member.access_token })
      assert.deepStrictEqual(status.body, { enabled: true, recovery_codes_left: 8 })
    })
  )

  it.effect(
    "is checked once by a login that is repeated because another one rehashed the password",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { codes, member } = yield* protectedMember
        const { hash } = yield* Effect.promise(loadArgon2)
        const weak = yield* Effect.promise(() =>
          hash(password, { memoryCost: 16, timeCost: 2, parallelism: 1 })
        )
        yield* sql`UPDATE users SET password_hash = ${weak} WHERE id = ${member.user_id}`
        const answers = yield* collide(
          sql`SELECT id FROM users WHERE id = ${member.user_id} FOR UPDATE`,
          codes.slice(0, 4).map((code) => logInWith(member, code))
        )
        assert.deepStrictEqual(
          answers.map(statusAndError),
          times(4, () => "200")
        )
      })
  )

  it.effect("cannot be guessed, because wrong and missing codes count like wrong passwords", () =>
    Effect.gen(function* () {
      const { member } = yield* protectedMember
      const answers = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? "111111" : undefined)),
        (code) => logInWith(member, code)
      )
      assert.notInclude(answers.map(statusAndError), "429 rate_limited")
      assert.strictEqual(statusAndError(yield* logInWith(member, "111111")), "429 rate_limited")
    })
  )

  it.effect("is removed with the password and a code, and can then be started again", () =>
    Effect.gen(function* () {
      const { codes, member, secret } = yield* protectedMember
      const token = member.access_token
      const remove = (current_password: string, code: string) =>
        ask("DELETE", "/v1/auth/totp", { token, body: { current_password, code } })
      const again = yield* ask("POST", "/v1/auth/totp/start", {
        token,
        body: { current_password: password }
      })
      assert.strictEqual(statusAndError(again), "409 conflict")
      assert.strictEqual(
        statusAndError(yield* remove("not the right password", codes[0]!)),
        "401 invalid_credentials"
      )
      assert.strictEqual(statusAndError(yield* remove(password, "000000")), "401 invalid_code")
      assert.strictEqual(statusAndError(yield* remove(password, yield* currentCode(secret))), "204")
      assert.strictEqual(statusAndError(yield* remove(password, codes[0]!)), "409 conflict")
      assert.strictEqual(statusAndError(yield* logInWith(member)), "200")
      const status = yield* ask("GET", "/v1/auth/totp", { token })
      assert.deepStrictEqual(status.body, { enabled: false, recovery_codes_left: 0 })
      yield* startTotp(member)
    })
  )

  it.effect("needs the password to be started, and is stored encrypted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { codes, member, secret } = yield* protectedMember
      const other = yield* signUp()
      const refused = yield* ask("POST", "/v1/auth/totp/start", {
        token: other.access_token,
        body: { current_password: "not the right password" }
      })
      assert.strictEqual(statusAndError(refused), "401 invalid_credentials")
      const rows = yield* sql<{ row: string }>`
        SELECT totp::text || coalesce(string_agg(code_hash, ' '), '') AS row
        FROM totp
        LEFT JOIN recovery_codes ON recovery_codes.user_id = totp.user_id
        WHERE totp.user_id = ${member.user_id}
        GROUP BY totp.user_id`
      assert.isNotEmpty(rows)
      for (const word of [secret, ...codes, ...codes.map((code) => code.replace("-", ""))]) {
        assert.isFalse(rows[0]!.row.includes(word))
      }
    })
  )

  const renewed = Redacted.make("another secret for tests, thirty-two bytes and more")

  /** Logs in on a new node that has only this `APP_SECRET`. */
  const logInAtNewNode = Effect.fnUntraced(function* ({ email }: Member, totp: string) {
    const url = yield* startNode({
      ...testConfig,
      appSecret: renewed,
      appSecretLost: checkValueOf(testSecret)
    })
    const answer = yield* Effect.promise(() =>
      fetch(`${url}/v1/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": randomIp() },
        body: JSON.stringify({ email, password, totp })
      })
    )
    return answer.status
  })

  it.effect("whose secret is lost rejects all codes, and an operator can remove it", () =>
    Effect.gen(function* () {
      const { codes, member, secret } = yield* protectedMember
      for (const code of [yield* currentCode(secret), codes[0] ?? ""]) {
        assert.strictEqual(yield* logInAtNewNode(member, code), 401)
      }
    })
  )
})
