import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { waitForMail, testAppWithMail } from "../../notifications/support/withMail.ts"
import { agentClientOf, workerClientOf } from "../../workers/workers.ts"
import {
  accessStatus,
  type Answer,
  ask,
  askToken,
  createKey,
  createServiceAccount,
  logIn,
  type Member,
  statusAndError,
  password,
  randomEmail,
  randomIp,
  signUp,
  textWithoutRequestId,
  runConcurrently
} from "../../support/http.ts"
import { type TestApp, twoTestNodesLayer, testNow } from "../../support/TestApp.ts"
import { currentCode, confirmTotp, startTotp } from "../totp/totp.ts"
import { sendBatchedChanges, openStreamOnTestClock } from "../../live/streams.ts"
import { linkTokenFor } from "../email/linkTokenFor.ts"

const newPassword = "another long password"

const reset = (token: string, new_password = newPassword, at: "url" | "otherUrl" = "url") =>
  ask("POST", "/v1/auth/password/reset", {
    at,
    headers: { "x-forwarded-for": randomIp() },
    body: { token, new_password }
  })

const changePassword = ({ access_token }: Member) =>
  ask("POST", "/v1/auth/password", {
    token: access_token,
    body: { current_password: password, new_password: newPassword }
  })

const forgot = (email: string, ip = randomIp()) =>
  ask("POST", "/v1/auth/password/forgot", { body: { email }, headers: { "x-forwarded-for": ip } })

layer(twoTestNodesLayer())("a new password", (it) => {
  it.effect("is set once with a token, and ends all sessions", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { key } = yield* createKey(member)
      const token = yield* linkTokenFor("password reset", member)
      const answers = yield* runConcurrently([reset(token), reset(token, newPassword, "otherUrl")])
      assert.deepStrictEqual(answers.map(statusAndError).toSorted(), ["204", "401 invalid_link"])
      assert.strictEqual(statusAndError(yield* reset(token)), "401 invalid_link")
      assert.strictEqual(yield* accessStatus(member.access_token), "401 invalid_token")
      const refreshed = yield* ask("POST", "/v1/auth/refresh", {
        body: { refresh_token: member.refresh_token }
      })
      assert.strictEqual(statusAndError(refreshed), "401 invalid_refresh_token")
      assert.strictEqual(statusAndError(yield* logIn(member.email)), "401 invalid_credentials")
      assert.strictEqual(
        statusAndError(yield* logIn(member.email, { password: newPassword })),
        "200"
      )
      // API keys belong to the workspace, so they still work.
      assert.strictEqual(yield* accessStatus(key), "200")
    })
  )

  it.effect("must follow the rules, and a rejected one does not use up the token", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = yield* linkTokenFor("password reset", member)
      for (const bad of [member.email, "password1234", "short"]) {
        assert.strictEqual(statusAndError(yield* reset(token, bad)), "422 validation_failed", bad)
      }
      assert.strictEqual(statusAndError(yield* reset(token)), "204")
    })
  )

  it.effect("is not set with an expired, altered, replaced or foreign token", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const old = yield* linkTokenFor("password reset", member, testNow)
      const first = yield* linkTokenFor("password reset", member)
      const second = yield* linkTokenFor("password reset", member)
      const invited = yield* ask("POST", `${member.workspace}/invitations`, {
        token: member.access_token,
        body: { email: randomEmail(), role: "viewer" }
      })
      for (const token of [old, first, second.slice(1), `${second}A`, invited.body.token, "x"]) {
        assert.strictEqual(statusAndError(yield* reset(token)), "401 invalid_link")
      }
      assert.strictEqual(statusAndError(yield* reset(second)), "204")
    })
  )

  it.effect("does not remove the second factor", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* confirmTotp(member, yield* startTotp(member))
      assert.strictEqual(
        statusAndError(yield* reset(yield* linkTokenFor("password reset", member))),
        "204"
      )
      const answer = yield* logIn(member.email, { password: newPassword })
      assert.strictEqual(statusAndError(answer), "401 totp_required")
    })
  )

  it.effect("is not set with a token from before a change of the account", () =>
    Effect.gen(function* () {
      const codes = new Map<string, string>()
      const changes: Readonly<
        Record<
          string,
          (member: Member) => Effect.Effect<Answer, never, TestApp | SqlClient.SqlClient>
        >
      > = {
        "the password": (member) => changePassword(member),
        "the email": (member) =>
          Effect.gen(function* () {
            yield* ask("PATCH", "/v1/auth/me", {
              token: member.access_token,
              body: { email: randomEmail(), current_password: password }
            })
            return yield* ask("POST", "/v1/auth/email/verify", {
              body: { token: yield* Effect.orDie(linkTokenFor("email", member)) }
            })
          }),
        "the second factor, which is switched on": (member) =>
          Effect.gen(function* () {
            const code = yield* currentCode(codes.get(member.user_id) ?? "")
            return yield* ask("POST", "/v1/auth/totp/confirm", {
              token: member.access_token,
              body: { code }
            })
          }),
        "the second factor, which is removed": (member) =>
          ask("DELETE", "/v1/auth/totp", {
            token: member.access_token,
            body: { current_password: password, code: codes.get(member.user_id) }
          })
      }
      for (const [of, change] of Object.entries(changes)) {
        const member = yield* signUp()
        if (of.startsWith("the second factor")) {
          const secret = yield* startTotp(member)
          const [recovery = ""] = of.endsWith("removed") ? yield* confirmTotp(member, secret) : []
          codes.set(member.user_id, recovery || secret)
        }
        const token = yield* linkTokenFor("password reset", member)
        const changed = yield* change(member)
        assert.isBelow(changed.status, 300, `${of}: ${changed.text}`)
        assert.strictEqual(statusAndError(yield* reset(token)), "401 invalid_link", of)
      }
    })
  )

  it.effect("cancels a pending change of the email", () =>
    Effect.gen(function* () {
      const byToken = (member: Member) =>
        Effect.flatMap(Effect.orDie(linkTokenFor("password reset", member)), (token) =>
          reset(token)
        )
      for (const renew of [changePassword, byToken]) {
        const member = yield* signUp()
        yield* ask("PATCH", "/v1/auth/me", {
          token: member.access_token,
          body: { email: randomEmail(), current_password: password }
        })
        const token = yield* linkTokenFor("email", member)
        assert.isBelow((yield* renew(member)).status, 300)
        const opened = yield* ask("POST", "/v1/auth/email/verify", { body: { token } })
        assert.strictEqual(statusAndError(opened), "401 invalid_link")
        const { body } = yield* logIn(member.email, { password: newPassword })
        const me = yield* ask("GET", "/v1/auth/me", { token: body.access_token })
        assert.isNull(me.body.pending_email)
      }
    })
  )

  it.effect("keeps the link that verifies the account's email", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const token = yield* linkTokenFor("email", member)
      assert.strictEqual(statusAndError(yield* changePassword(member)), "200")
      const opened = yield* ask("POST", "/v1/auth/email/verify", { body: { token } })
      assert.strictEqual(statusAndError(opened), "204")
    })
  )

  it.effect("cannot be requested if the server sends no mail", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const answers = [yield* forgot(member.email), yield* forgot(randomEmail())]
      assert.deepStrictEqual(answers.map(statusAndError), ["409 conflict", "409 conflict"])
      assert.strictEqual(textWithoutRequestId(answers[0]!), textWithoutRequestId(answers[1]!))
    })
  )
})

/** Reads the token in the latest email to an address. */
const mailedToken = Effect.fnUntraced(function* (email: string) {
  assert.strictEqual(statusAndError(yield* forgot(email)), "204")
  const mail = yield* waitForMail(email, "Set a new password")
  return /^https:\/\/scheduling\.test\/reset-password#([\w-]{43})$/m.exec(mail.text)?.[1] ?? ""
})

const invited = Effect.fnUntraced(function* (member: Member, email: string) {
  yield* ask("POST", `${member.workspace}/invitations`, {
    token: member.access_token,
    body: { email, role: "admin" }
  })
  const mail = yield* waitForMail(email, "You are invited to a workspace")
  return /#([\w-]{43})$/m.exec(mail.text)?.[1] ?? ""
})

const joinedByMail = Effect.fnUntraced(function* (member: Member) {
  const other = yield* signUp()
  const accepted = yield* ask("POST", "/v1/invitations/accept", {
    token: other.access_token,
    body: { token: yield* invited(member, other.email) }
  })
  assert.strictEqual(statusAndError(accepted), "200")
  return other
})

/** Sets up every way of accessing an account, and returns those that still work. */
const setUp = Effect.fnUntraced(function* (member: Member) {
  yield* confirmTotp(member, yield* startTotp(member))
  const { key } = yield* createKey(member)
  const { token } = (yield* workerClientOf(member).create()).body
  const client = yield* createServiceAccount(member)
  const grant = { grant_type: "client_credentials", ...client }
  const tool: string = (yield* askToken(grant)).body.access_token
  const other = yield* joinedByMail(member)
  yield* invited(member, randomEmail())
  return Effect.gen(function* () {
    const asOther = (path: string) =>
      ask("GET", `${member.workspace}${path}`, { token: other.access_token })
    return {
      key: yield* accessStatus(key),
      worker: statusAndError(yield* agentClientOf(token).hello()),
      tool: [yield* accessStatus(tool), (yield* askToken(grant)).status],
      member: statusAndError(yield* asOther("")),
      login: statusAndError(yield* logIn(member.email, { password: newPassword }))
    }
  })
})

layer(testAppWithMail)("a forgotten password", (it) => {
  it.effect("of an unverified email ends all access that was set up before", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const member = yield* signUp()
      const whatIsLeft = yield* setUp(member)
      yield* ask("PATCH", "/v1/auth/me", {
        token: member.access_token,
        body: { email: randomEmail(), current_password: password }
      })
      assert.strictEqual(statusAndError(yield* reset(yield* mailedToken(member.email))), "204")
      assert.deepStrictEqual(yield* whatIsLeft, {
        key: "401 invalid_api_key",
        worker: "401 invalid_worker_token",
        tool: ["401 invalid_token", 401],
        member: "404 not_found",
        login: "200"
      })
      const token: string = (yield* logIn(member.email, { password: newPassword })).body
        .access_token
      const { body: user } = yield* ask("GET", "/v1/auth/me", { token })
      assert.deepInclude(user, { email_verified: true, pending_email: null })
      const { body: invitations } = yield* ask("GET", `${member.workspace}/invitations`, { token })
      assert.lengthOf(invitations.data, 0)
      const { body: audit } = yield* ask("GET", `${member.workspace}/audit`, { token })
      assert.includeMembers(
        audit.data.map(({ action }: { readonly action: string }) => action),
        [
          "api_key.revoked",
          "invitation.removed",
          "member.removed",
          "service_account.deleted",
          "signing_secret.rotated",
          "worker.token_revoked"
        ]
      )
      const events = yield* sql<{ readonly action: string }>`
        SELECT action
        FROM audit_events
        WHERE user_id = ${member.user_id}
          AND action IN ('email.verified', 'totp.disabled')
        ORDER BY action`
      assert.deepStrictEqual(events, [{ action: "email.verified" }, { action: "totp.disabled" }])
    })
  )

  it.effect("immediately ends the live streams of removed members", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { access_token: token } = yield* joinedByMail(member)
      const { end } = yield* openStreamOnTestClock({ workspace: member.workspace, token })
      assert.strictEqual(statusAndError(yield* reset(yield* mailedToken(member.email))), "204")
      yield* sendBatchedChanges(() => end() === "ended")
    })
  )

  it.effect("of a verified email keeps the second factor, keys, workers and members", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* ask("POST", "/v1/auth/email/verify", {
        body: { token: yield* linkTokenFor("email", member) }
      })
      const whatIsLeft = yield* setUp(member)
      assert.strictEqual(statusAndError(yield* reset(yield* mailedToken(member.email))), "204")
      assert.deepStrictEqual(yield* whatIsLeft, {
        key: "200",
        worker: "200",
        tool: ["200", 200],
        member: "200",
        login: "401 totp_required"
      })
    })
  )

  it.effect(
    "is replaced by mail, and the response does not reveal whether the account exists",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const member = yield* signUp()
        const known = yield* forgot(member.email.toUpperCase())
        const unknown = yield* forgot(randomEmail())
        assert.deepStrictEqual([statusAndError(known), statusAndError(unknown)], ["204", "204"])
        const mail = yield* waitForMail(member.email, "Set a new password")
        const token =
          /^https:\/\/scheduling\.test\/reset-password#([\w-]{43})$/m.exec(mail.text)?.[1] ?? ""
        assert.strictEqual(statusAndError(yield* reset(token)), "204")
        assert.strictEqual(
          statusAndError(yield* logIn(member.email, { password: newPassword })),
          "200"
        )
        const events = yield* sql<{ action: string; actor_id: string | null }>`
        SELECT action, actor_id
        FROM audit_events
        WHERE user_id = ${member.user_id}
          AND action LIKE 'password.%'
        ORDER BY id`
        assert.deepStrictEqual(events, [
          { action: "password.reset_requested", actor_id: null },
          { action: "password.reset", actor_id: member.user_id }
        ])
      })
  )

  it.effect(
    "causes at most five mails to a person, and twenty from an address, in 15 minutes",
    () =>
      Effect.gen(function* () {
        const email = randomEmail()
        for (let sent = 0; sent < 5; sent++)
          assert.strictEqual(statusAndError(yield* forgot(email)), "204")
        assert.strictEqual(statusAndError(yield* forgot(email)), "429 rate_limited")
        const ip = randomIp()
        for (let sent = 0; sent < 20; sent++) {
          assert.strictEqual(statusAndError(yield* forgot(randomEmail(), ip)), "204")
        }
        assert.strictEqual(statusAndError(yield* forgot(randomEmail(), ip)), "429 rate_limited")
      })
  )
})
