import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { waitForMail, Mails, testAppWithMail } from "../../notifications/support/withMail.ts"
import { ask, type Member, statusAndError, password, signUp } from "../../support/http.ts"
import { linkTokenFor } from "../email/linkTokenFor.ts"
import { currentCode, startTotp } from "../totp/totp.ts"

const address = "203.0.113.9"

const act = (method: string, path: string, { access_token: token }: Member, body: object) =>
  ask(method, path, { token, body, headers: { "x-forwarded-for": address } })

const verified = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const member = yield* signUp()
  yield* sql`UPDATE users SET email_verified_at = now() WHERE id = ${member.user_id}`
  return member
})

const changePassword = (member: Member) =>
  act("POST", "/v1/auth/password", member, {
    current_password: password,
    new_password: "another long password"
  })

layer(testAppWithMail)("the owner of an account gets a mail", (it) => {
  it.effect("about a changed password, with the time, the address and advice", () =>
    Effect.gen(function* () {
      const member = yield* verified
      assert.strictEqual(statusAndError(yield* changePassword(member)), "200")
      const { text } = yield* waitForMail(member.email, "Your password was changed")
      assert.include(
        text.replaceAll(/\s+/g, " "),
        `The password of your account at scheduling.test was changed on 2026-06-01 at 12:00 UTC, from the address ${address}.`
      )
      assert.include(text, "https://scheduling.test/forgot-password")
    })
  )

  it.effect("about a password that was set by a link", () =>
    Effect.gen(function* () {
      const member = yield* verified
      const token = yield* linkTokenFor("password reset", member)
      const answer = yield* act("POST", "/v1/auth/password/reset", member, {
        token,
        new_password: "another long password"
      })
      assert.strictEqual(statusAndError(answer), "204")
      yield* waitForMail(member.email, "Your password was changed")
    })
  )

  it.effect("about a second factor that was added or removed", () =>
    Effect.gen(function* () {
      const member = yield* verified
      const code = yield* currentCode(yield* startTotp(member))
      const enabled = yield* act("POST", "/v1/auth/totp/confirm", member, { code })
      const { text } = yield* waitForMail(member.email, "A second factor was switched on")
      assert.include(text, `from the address ${address}.`)
      const [recovery] = enabled.body.recovery_codes
      const removed = yield* act("DELETE", "/v1/auth/totp", member, {
        current_password: password,
        code: recovery
      })
      assert.strictEqual(statusAndError(removed), "204")
      yield* waitForMail(member.email, "Your second factor was removed")
    })
  )

  it.effect("only at a verified address, and only after a change", () =>
    Effect.gen(function* () {
      const stranger = yield* signUp()
      yield* changePassword(stranger)
      const careless = yield* verified
      yield* act("POST", "/v1/auth/password", careless, {
        current_password: "a wrong long password",
        new_password: "another long password"
      })
      const member = yield* verified
      yield* changePassword(member)
      yield* waitForMail(member.email, "Your password was changed")
      const notices = (yield* Mails).filter(({ headers }) =>
        /changed/.test(headers.get("subject") ?? "")
      )
      assert.notInclude(
        notices.flatMap(({ to }) => to),
        stranger.email
      )
      assert.notInclude(
        notices.flatMap(({ to }) => to),
        careless.email
      )
    })
  )
})
