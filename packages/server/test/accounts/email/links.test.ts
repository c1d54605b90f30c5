import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { notificationClientOf } from "../../notifications/support/channels.ts"
import { waitForMail, testAppWithMail } from "../../notifications/support/withMail.ts"
import {
  ask,
  logIn,
  type Member,
  statusAndError,
  password,
  randomEmail,
  randomIp,
  signUp,
  runConcurrently
} from "../../support/http.ts"
import { twoTestNodesLayer, testNow } from "../../support/TestApp.ts"
import { linkTokenFor } from "./linkTokenFor.ts"

const verify = (token: string, at: "url" | "otherUrl" = "url") =>
  ask("POST", "/v1/auth/email/verify", {
    at,
    headers: { "x-forwarded-for": randomIp() },
    body: { token }
  })

const change = ({ access_token }: Member, body: object) =>
  ask("PATCH", "/v1/auth/me", { token: access_token, body })

const me = ({ access_token }: Member) =>
  Effect.map(ask("GET", "/v1/auth/me", { token: access_token }), ({ body }) => body)

const resend = ({ access_token }: Member) =>
  ask("POST", "/v1/auth/email/resend", { token: access_token })

layer(twoTestNodesLayer())("an email", (it) => {
  it.effect("replaces the old one when its link is used", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const email = randomEmail()
      const changed = yield* change(member, { email, current_password: password })
      const expected = { email: member.email, pending_email: email, email_verified: false }
      assert.deepInclude(changed.body, expected)
      assert.strictEqual(statusAndError(yield* logIn(email)), "401 invalid_credentials")

      const token = yield* linkTokenFor("email", member)
      const answers = yield* runConcurrently([verify(token), verify(token, "otherUrl")])
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), ["204", "401 invalid_link"])
      assert.deepInclude(yield* me(member), { email, pending_email: null, email_verified: true })
      assert.strictEqual(statusAndError(yield* logIn(member.email)), "401 invalid_credentials")
      assert.strictEqual(statusAndError(yield* logIn(email)), "200")
    })
  )

  it.effect("that is no longer wanted has no working link", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* change(member, { email: randomEmail(), current_password: password })
      const token = yield* linkTokenFor("email", member)
      const back = yield* change(member, { email: member.email, current_password: password })
      assert.deepInclude(back.body, { email: member.email, pending_email: null })
      assert.strictEqual(statusAndError(yield* verify(token)), "401 invalid_link")
    })
  )

  it.effect("is not verified with an expired, altered, replaced or foreign token", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const reset = yield* linkTokenFor("password reset", member)
      const old = yield* linkTokenFor("email", member, testNow)
      assert.strictEqual(statusAndError(yield* verify(old)), "401 invalid_link")
      const first = yield* linkTokenFor("email", member)
      const second = yield* linkTokenFor("email", member)
      for (const token of [old, first, second.slice(1), `${second}A`, reset, "x"]) {
        assert.strictEqual(statusAndError(yield* verify(token)), "401 invalid_link")
      }
      assert.strictEqual(statusAndError(yield* verify(second)), "204")
    })
  )

  it.effect("belongs to the account that verifies it first", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* signUp(), yield* signUp()]
      const email = randomEmail()
      for (const one of [first, second]) {
        const answer = yield* change(one, { email, current_password: password })
        assert.strictEqual(answer.body.pending_email, email)
      }
      const tokens = [yield* linkTokenFor("email", first), yield* linkTokenFor("email", second)]
      const answers = yield* runConcurrently(tokens.map((token) => verify(token)))
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), ["204", "409 email_taken"])
    })
  )

  it.effect("gets no link if the server sends no mail", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const answer = yield* resend(member)
      assert.strictEqual(statusAndError(answer), "409 conflict")
      assert.include(answer.body.detail.message, "operator")
      yield* verify(yield* linkTokenFor("email", member))
      assert.include((yield* resend(member)).body.detail.message, "already verified")
    })
  )

  it.effect("can be verified in at most 50 attempts in 15 minutes", () =>
    Effect.gen(function* () {
      const headers = { "x-forwarded-for": randomIp() }
      const answers = yield* Effect.forEach(
        Array.from({ length: 51 }),
        () => ask("POST", "/v1/auth/email/verify", { headers, body: { token: "x" } }),
        { concurrency: 8 }
      )
      const limited = answers.filter(({ status }) => status === 429)
      assert.deepStrictEqual(limited.map(statusAndError), ["429 rate_limited"])
    })
  )
})

const linkIn = (text: string) => /https:\/\/scheduling\.test(\/email\/verify\/[\w-]{43})/.exec(text)

layer(testAppWithMail)("an account on a server that sends mail", (it) => {
  it.effect("verifies its email with the button on the page of the link", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const mail = yield* waitForMail(member.email, "Is this your email?")
      const link = linkIn(mail.text)?.[1] ?? ""
      assert.include(mail.html, link)
      assert.strictEqual((yield* ask("GET", link)).status, 200)
      assert.isFalse((yield* me(member)).email_verified)
      assert.strictEqual((yield* ask("POST", link)).status, 200)
      assert.isTrue((yield* me(member)).email_verified)
      assert.strictEqual((yield* ask("GET", link)).status, 404)
      assert.strictEqual((yield* ask("POST", link)).status, 404)
    })
  )

  it.effect("gets its notifications in all its workspaces after that", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const guest = yield* signUp()
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO memberships (user_id, workspace_id, role, created_at)
        VALUES (${guest.user_id}, ${owner.workspace_id}, 'viewer', now())`
      const channels = notificationClientOf(owner)
      const toGuest = yield* channels.create({
        name: "guest",
        kind: "email",
        config: { to: guest.email }
      })
      assert.isFalse(toGuest.body.confirmed)
      const confirmed = Effect.map(channels.list(), ({ body }) =>
        body.data.map((channel: { readonly confirmed: boolean }) => channel.confirmed)
      )
      assert.deepStrictEqual(yield* confirmed, [false, false])
      yield* verify(yield* linkTokenFor("email", guest))
      assert.deepStrictEqual(yield* confirmed, [true, false])
      yield* verify(yield* linkTokenFor("email", owner))
      assert.deepStrictEqual(yield* confirmed, [true, true])
      const again = yield* channels.create({
        name: "guest again",
        kind: "email",
        config: { to: guest.email }
      })
      assert.isTrue(again.body.confirmed)
    })
  )

  it.effect("gets the link at its new address and a notice at the old one", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* verify(yield* linkTokenFor("email", member))
      const email = randomEmail()
      yield* change(member, { email, current_password: password })
      const first = yield* waitForMail(email, "Is this your email?")
      assert.strictEqual(statusAndError(yield* resend(member)), "204")
      const second = yield* waitForMail(email, "Is this your email?", 2)
      const [old, latest] = [first, second].map(({ text }) => linkIn(text)?.[1] ?? "")
      assert.strictEqual((yield* ask("POST", old ?? "")).status, 404)
      assert.strictEqual((yield* ask("POST", latest ?? "")).status, 200)
      yield* waitForMail(member.email, "Your email address was changed")
      const sql = yield* SqlClient.SqlClient
      const events = yield* sql<{ readonly action: string }>`
        SELECT action
        FROM audit_events
        WHERE user_id = ${member.user_id}
          AND action LIKE 'email.%'
        ORDER BY id`
      assert.deepStrictEqual(
        events.map(({ action }) => action),
        ["email.verified", "email.link_requested", "email.verified"]
      )
      for (let sent = 0; sent < 2; sent++) {
        yield* change(member, { email: randomEmail(), current_password: password })
      }
      const limited = yield* change(member, { email: randomEmail(), current_password: password })
      assert.strictEqual(statusAndError(limited), "429 rate_limited")
      assert.strictEqual(statusAndError(yield* resend(member)), "429 rate_limited")
    })
  )

  it.effect("is invited by mail, and the response does not contain the token", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const guest = yield* signUp()
      const invite = (email: string) =>
        ask("POST", `${owner.workspace}/invitations`, {
          token: owner.access_token,
          body: { email, role: "viewer" }
        })
      const invited = yield* invite(guest.email)
      assert.strictEqual(invited.status, 201)
      assert.isNull(invited.body.token)
      const mail = yield* waitForMail(guest.email, "You are invited to a workspace")
      const token =
        /^https:\/\/scheduling\.test\/invitation#([\w-]{43})$/m.exec(mail.text)?.[1] ?? ""
      const accepted = yield* ask("POST", "/v1/invitations/accept", {
        token: guest.access_token,
        body: { token }
      })
      assert.strictEqual(statusAndError(accepted), "200")
      const email = randomEmail()
      for (let sent = 0; sent < 5; sent++) {
        assert.strictEqual(statusAndError(yield* invite(email)), "201")
      }
      assert.strictEqual(statusAndError(yield* invite(email)), "429 rate_limited")
    })
  )

  it.effect("cannot be registered repeatedly to flood an address with links", () =>
    Effect.gen(function* () {
      const [name] = randomEmail().split("@")
      const spellings = [
        `${name}@target.example`,
        `${name}@target。example`,
        `${name}@TARGET．example`,
        `${name}@ｔａｒｇｅｔ｡example`,
        ` ${name}@target.example `
      ]
      const register = (email: string) =>
        ask("POST", "/v1/auth/register", {
          body: { email, password },
          headers: { "x-forwarded-for": randomIp() }
        })
      for (const email of spellings) {
        const registered = yield* register(email)
        assert.strictEqual(registered.body.user.email, spellings[0])
        const { body } = yield* logIn(email)
        const removed = yield* ask("DELETE", "/v1/auth/me", {
          token: body.access_token,
          body: { current_password: password }
        })
        assert.strictEqual(statusAndError(removed), "204")
      }
      const refused = yield* register(`${name}+another@target.example`)
      assert.strictEqual(statusAndError(refused), "429 rate_limited")
      assert.include(refused.body.detail.message, "mails have been sent to this address")
      assert.strictEqual(
        statusAndError(yield* logIn(`${name}+another@target.example`)),
        "401 invalid_credentials"
      )
    })
  )

  it.effect("causes at most ten mails a day to somebody who has not agreed", () =>
    Effect.gen(function* () {
      const to = randomEmail()
      const invite = Effect.flatMap(signUp(), (owner) =>
        ask("POST", `${owner.workspace}/invitations`, {
          token: owner.access_token,
          body: { email: to, role: "viewer" }
        })
      )
      const confirm = Effect.flatMap(signUp(), (owner) =>
        notificationClientOf(owner).create({ name: "a stranger", kind: "email", config: { to } })
      )
      for (let sent = 0; sent < 5; sent++) {
        assert.strictEqual((yield* invite).status, 201)
        assert.strictEqual((yield* confirm).status, 201)
      }
      const registered = yield* ask("POST", "/v1/auth/register", {
        body: { email: to, password },
        headers: { "x-forwarded-for": randomIp() }
      })
      assert.strictEqual(statusAndError(registered), "429 rate_limited")
      assert.isAbove(registered.body.detail.retry_after, 15 * 60)
    })
  )
})
