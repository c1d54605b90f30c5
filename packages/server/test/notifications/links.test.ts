import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { mailLinkTo } from "../../src/notifications/channels/mailLinks.ts"
import { Secrets } from "../../src/core/Secrets.ts"
import { linkTokenFor } from "../accounts/email/linkTokenFor.ts"
import { ask, type Member, statusAndError, password, randomEmail, signUp } from "../support/http.ts"
import { collide } from "../support/collide.ts"
import { testAppLayer, testConfig, testNow } from "../support/TestApp.ts"
import { notificationClientOf } from "./support/channels.ts"

const ring = Effect.map(Secrets, (service) => service.keys("notification-link")).pipe(
  Effect.provide(Secrets.layerFrom(testConfig.appSecret ?? Redacted.make(""))),
  Effect.runSync
)

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  return { member, channels: notificationClientOf(member) }
})

const stranger = (to: string) => ({ name: "a stranger", kind: "email", config: { to } })

const verify = (member: Member) =>
  Effect.flatMap(linkTokenFor("email", member), (token) =>
    ask("POST", "/v1/auth/email/verify", { body: { token } })
  )

/** Inserts the membership directly, because the invitation's token is sent only by email. */
const joinedByMail = Effect.fnUntraced(function* ({ workspace_id }: Member) {
  const sql = yield* SqlClient.SqlClient
  const member = yield* signUp()
  yield* sql`
    INSERT INTO memberships (user_id, workspace_id, role, created_at)
    VALUES (${member.user_id}, ${workspace_id}, 'editor', now())`
  return member
})

const withMail = testAppLayer({
  smtpUrl: Redacted.make("smtp://127.0.0.1:1"),
  mailFrom: "alerts@scheduling.test",
  publicUrl: "https://scheduling.test"
})

layer(withMail)("An email channel", (it) => {
  it.effect("to its owner, who has to verify the address, is what a workspace begins with", () =>
    Effect.gen(function* () {
      const { channels, member } = yield* setUp
      const { body } = yield* channels.list()
      assert.containSubset(body.data, [
        { kind: "email", config: { to: member.email }, confirmed: false }
      ])
      const { body: settings } = yield* channels.settings
      assert.deepInclude(settings.rules[0], { channel_ids: [body.data[0].id] })
      assert.includeMembers(settings.rules[0].events, ["execution.failed", "task.recovered"])
    })
  )

  it.effect("to a stranger asks once, however often it is saved by its key", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const definition = stranger(randomEmail())
      const { body } = yield* channels.put("them", definition)
      assert.isFalse(body.confirmed)
      yield* channels.put("them", definition)
      yield* channels.put("them", { ...definition, name: "still a stranger" })
      const { body: list } = yield* channels.deliveries(`?channel_id=${body.id}`)
      assert.lengthOf(list.data, 1)
      yield* channels.put("them", { ...definition, config: { to: randomEmail() } })
      assert.lengthOf((yield* channels.deliveries(`?channel_id=${body.id}`)).body.data, 2)
    })
  )

  it.effect(
    "to a stranger is confirmed by its link for a week, and then says how to ask again",
    () =>
      Effect.gen(function* () {
        const { channels } = yield* setUp
        const to = randomEmail()
        const { body } = yield* channels.create(stranger(to))
        const sent = (days: number) =>
          mailLinkTo(
            ring,
            "",
            "confirm",
            { id: body.id, config: { to } },
            new Date(testNow - days * 86_400_000)
          )
        for (const method of ["GET", "POST"]) {
          const answer = yield* ask(method, sent(7))
          assert.strictEqual(answer.status, 410)
          assert.include(answer.text, "resume the channel")
        }
        assert.isFalse((yield* channels.get(body.id)).body.confirmed)
        // The expiry is part of the signed text.
        const [id, end = "", mac] = sent(7).split(".")
        const prolonged = [id, Number(end) + 86_400_000, mac].join(".")
        assert.strictEqual((yield* ask("POST", prolonged)).status, 404)
        assert.strictEqual((yield* ask("POST", [id, mac].join("."))).status, 404)
        assert.strictEqual((yield* ask("POST", sent(6.9))).status, 200)
        assert.isTrue((yield* channels.get(body.id)).body.confirmed)
        // The unsubscribe link in an old email must still work.
        const old = mailLinkTo(
          ring,
          "",
          "unsubscribe",
          { id: body.id, config: { to } },
          new Date(0)
        )
        assert.strictEqual((yield* ask("POST", old)).status, 200)
      })
  )

  it.effect("to a stranger waits for the button behind the link, and no opening of it", () =>
    Effect.gen(function* () {
      const { channels, member } = yield* setUp
      const to = randomEmail()
      const { body } = yield* channels.create(stranger(to))
      assert.isFalse(body.confirmed)
      assert.strictEqual(statusAndError(yield* channels.test(body.id)), "409 conflict")
      const { body: list } = yield* channels.deliveries(`?channel_id=${body.id}`)
      assert.containSubset(list.data, [{ status: "queued", events_count: 0 }])

      const at = (what: "confirm" | "unsubscribe", config: object) =>
        mailLinkTo(ring, "", what, { id: body.id, config: { ...config } }, new Date(testNow))
      const confirm = at("confirm", { to })
      const opened = yield* ask("GET", confirm)
      assert.strictEqual(opened.status, 200)
      assert.include(opened.headers.get("content-security-policy"), "default-src 'none'")
      assert.notInclude(opened.text, to)
      assert.isFalse((yield* channels.get(body.id)).body.confirmed)

      const forged = [
        at("confirm", { to: randomEmail() }),
        at("unsubscribe", { to }).replace("unsubscribe", "confirm"),
        `${confirm.slice(0, -1)}${confirm.endsWith("A") ? "B" : "A"}`,
        "/notifications/confirm/x"
      ]
      for (const link of forged) {
        assert.strictEqual((yield* ask("POST", link)).status, 404, link)
      }
      assert.isFalse((yield* channels.get(body.id)).body.confirmed)
      assert.strictEqual((yield* ask("POST", confirm)).status, 200)
      assert.isTrue((yield* channels.get(body.id)).body.confirmed)

      const form = {
        body: "List-Unsubscribe=One-Click",
        headers: { "content-type": "application/x-www-form-urlencoded" }
      }
      assert.strictEqual((yield* ask("POST", at("unsubscribe", { to }), form)).status, 200)
      assert.deepInclude((yield* channels.get(body.id)).body, {
        paused: true,
        paused_reason: "The recipient unsubscribed."
      })
      const audit = yield* ask("GET", `${member.workspace}/audit`, { token: member.access_token })
      assert.includeMembers(
        audit.body.data.map(({ action }: { readonly action: string }) => action),
        ["notification_channel.confirmed", "notification_channel.paused"]
      )
      const versions = yield* ask(
        "GET",
        `${member.workspace}/notifications/channels/${body.id}/versions`,
        { token: member.access_token }
      )
      assert.deepStrictEqual(
        versions.body.data.map(
          (one: { readonly updated_by: { readonly kind: string } | null }) => one.updated_by?.kind
        ),
        ["system", "user"]
      )

      const moved = yield* channels.update(body.id, { config: { to: randomEmail() } })
      assert.isFalse(moved.body.confirmed)
      assert.strictEqual((yield* ask("POST", confirm)).status, 404)
    })
  )

  it.effect("that gets another address meanwhile is not confirmed by the old one's link", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { channels } = yield* setUp
      const to = randomEmail()
      const { body } = yield* channels.create(stranger(to))
      const link = mailLinkTo(
        ring,
        "",
        "confirm",
        { id: body.id, config: { to } },
        new Date(testNow)
      )
      yield* collide(sql`SELECT id FROM notification_channels WHERE id = ${body.id} FOR UPDATE`, [
        Effect.asVoid(channels.update(body.id, { config: { to: randomEmail() } })),
        Effect.asVoid(ask("POST", link))
      ])
      assert.isFalse((yield* channels.get(body.id)).body.confirmed)
    })
  )

  it.effect("asks no more than twenty strangers a day", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      for (let asked = 0; asked < 20; asked++) {
        assert.strictEqual((yield* channels.create(stranger(randomEmail()))).status, 201)
      }
      const refused = yield* channels.create(stranger(randomEmail()))
      assert.strictEqual(statusAndError(refused), "402 quota_exceeded")
      assert.strictEqual(refused.body.detail.quota, "confirmation_mails_a_day")
    })
  )

  it.effect("asks no more strangers a day through workspaces that come and go", () =>
    Effect.gen(function* () {
      const { member } = yield* setUp
      const token = member.access_token
      for (let round = 0; round < 4; round++) {
        const made = yield* ask("POST", "/v1/workspaces", { token, body: { name: "for a while" } })
        const workspace = `/v1/workspaces/${made.body.id}`
        const { create } = notificationClientOf({ ...member, workspace })
        for (let asked = 0; asked < 5; asked++) {
          assert.strictEqual((yield* create(stranger(randomEmail()))).status, 201)
        }
        yield* ask("DELETE", workspace, { token })
      }
      const refused = yield* notificationClientOf(member).create(stranger(randomEmail()))
      assert.strictEqual(statusAndError(refused), "402 quota_exceeded")
    })
  )

  it.effect("asks one stranger at most five times a day, whoever creates channels", () =>
    Effect.gen(function* () {
      const to = randomEmail()
      for (let asked = 0; asked < 5; asked++) {
        const { channels } = yield* setUp
        assert.strictEqual((yield* channels.create(stranger(to))).status, 201)
      }
      const { channels } = yield* setUp
      const definition = stranger(to.toUpperCase().replace(".", "。"))
      const { body } = yield* channels.create(stranger(randomEmail()))
      const answers = [
        yield* channels.create(definition),
        yield* channels.put("them", definition),
        yield* channels.update(body.id, { config: { to } })
      ]
      assert.deepStrictEqual(answers.map(statusAndError), Array(3).fill("429 rate_limited"))
      assert.strictEqual((yield* channels.create(stranger(randomEmail()))).status, 201)
    })
  )

  it.effect("asks nobody once more when its mail is sent again, or goes elsewhere", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { channels } = yield* setUp
      const { body } = yield* channels.create(stranger(randomEmail()))
      yield* channels.update(body.id, { config: { to: randomEmail() } })
      const { body: list } = yield* channels.deliveries(`?channel_id=${body.id}`)
      const statuses = list.data.map(({ status }: { readonly status: string }) => status)
      assert.deepStrictEqual(statuses, ["queued", "cancelled"])
      yield* sql`
        UPDATE notification_deliveries
        SET status = 'delivered', finished_at = now()
        WHERE channel_id = ${body.id}`
      const { config } = (yield* channels.get(body.id)).body
      const link = mailLinkTo(ring, "", "confirm", { id: body.id, config }, new Date(testNow))
      for (const { id } of list.data) {
        assert.strictEqual(statusAndError(yield* channels.resend(id)), "409 conflict")
      }
      assert.strictEqual((yield* ask("POST", link)).status, 200)
      for (const { id } of list.data) {
        assert.strictEqual(statusAndError(yield* channels.resend(id)), "409 conflict")
      }
    })
  )

  it.effect(
    "to an unsubscribed address is not confirmed by being resumed, created or verified",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { channels, member } = yield* setUp
        yield* verify(member)
        const { body: ofOwner } = yield* channels.list()
        const [{ config, id }] = ofOwner.data
        const { body: second } = yield* channels.create(stranger(member.email.toUpperCase()))
        assert.isTrue(second.confirmed)
        assert.strictEqual(second.config.to, member.email)
        const at = (what: "confirm" | "unsubscribe") =>
          mailLinkTo(ring, "", what, { id, config }, new Date(testNow))
        assert.strictEqual((yield* ask("POST", at("unsubscribe"))).status, 200)
        for (const one of [id, second.id]) {
          assert.deepInclude((yield* channels.get(one)).body, { paused: true, confirmed: false })
        }

        const refusedAtOnce = [
          yield* channels.create(stranger(member.email)),
          yield* channels.create(stranger(member.email.replace(".", "．"))),
          yield* channels.create(stranger(member.email.replace(".", "｡"))),
          yield* channels.put("them", { ...stranger(member.email), paused: true })
        ]
        assert.deepStrictEqual(refusedAtOnce.map(statusAndError), Array(4).fill("409 conflict"))
        const resumed = yield* channels.update(id, { paused: false })
        assert.deepInclude(resumed.body, { paused: false, confirmed: false })
        assert.strictEqual(statusAndError(yield* channels.test(id)), "409 conflict")
        const { body: list } = yield* channels.deliveries(`?channel_id=${id}&status=queued`)
        assert.containSubset(list.data, [{ events_count: 0 }])
        assert.strictEqual(
          statusAndError(yield* channels.update(second.id, { paused: false })),
          "409 conflict"
        )
        yield* channels.remove(id)
        assert.strictEqual(
          statusAndError(yield* channels.create(stranger(member.email))),
          "409 conflict"
        )
        yield* sql`
        UPDATE notification_refusals
        SET asked_at = asked_at - interval '30 days'
        WHERE workspace_id = ${member.workspace_id}`
        const later = yield* channels.create(stranger(member.email))
        assert.isFalse(later.body.confirmed)
        const link = mailLinkTo(
          ring,
          "",
          "confirm",
          { id: later.body.id, config },
          new Date(testNow)
        )
        assert.strictEqual((yield* ask("POST", link)).status, 200)
        assert.isTrue((yield* channels.get(later.body.id)).body.confirmed)
        assert.isTrue((yield* channels.create(stranger(member.email))).body.confirmed)
      })
  )

  const ends = {
    "is removed": (owner: Member, member: Member) =>
      ask("DELETE", `${owner.workspace}/members/${member.user_id}`, { token: owner.access_token }),
    leaves: (owner: Member, member: Member) =>
      ask("POST", `${owner.workspace}/leave`, { token: member.access_token }),
    "deletes the account": (_: Member, member: Member) =>
      ask("DELETE", "/v1/auth/me", {
        token: member.access_token,
        body: { current_password: password }
      }),
    "gets another email": Effect.fnUntraced(function* (_: Member, member: Member) {
      yield* ask("PATCH", "/v1/auth/me", {
        token: member.access_token,
        body: { email: randomEmail(), current_password: password }
      })
      return yield* verify(member)
    })
  }

  it.effect.each(Object.entries(ends))(
    "to a member is no longer confirmed when the member %s",
    ([, end]) =>
      Effect.gen(function* () {
        const { channels, member: owner } = yield* setUp
        const member = yield* joinedByMail(owner)
        yield* verify(member)
        const { body } = yield* channels.create(stranger(member.email))
        assert.isTrue(body.confirmed)
        const { body: paused } = yield* channels.create({
          ...stranger(member.email),
          paused: true
        })
        assert.strictEqual(statusAndError(yield* channels.test(body.id)), "200")
        assert.oneOf((yield* end(owner, member)).status, [200, 204])
        assert.deepInclude((yield* channels.get(body.id)).body, {
          paused: true,
          confirmed: false
        })
        assert.include((yield* channels.get(body.id)).body.paused_reason, "no longer a member")
        assert.isFalse((yield* channels.get(paused.id)).body.confirmed)
        assert.strictEqual(statusAndError(yield* channels.test(body.id)), "409 conflict")
        const resumed = yield* channels.update(body.id, { paused: false })
        assert.deepInclude(resumed.body, { paused: false, confirmed: false })
        const { body: list } = yield* channels.deliveries(`?channel_id=${body.id}&status=queued`)
        assert.containSubset(list.data, [{ events_count: 0 }])
      })
  )

  it.effect("to a member who has also confirmed it by its link stays confirmed", () =>
    Effect.gen(function* () {
      const { channels, member: owner } = yield* setUp
      const member = yield* joinedByMail(owner)
      const { body } = yield* channels.create(stranger(member.email))
      const link = mailLinkTo(
        ring,
        "",
        "confirm",
        { id: body.id, config: { to: member.email } },
        new Date(testNow)
      )
      yield* ask("POST", link)
      yield* verify(member)
      yield* ends.leaves(owner, member)
      assert.deepInclude((yield* channels.get(body.id)).body, { paused: false, confirmed: true })
    })
  )

  it.effect.each(["a@b,c@d", "a@b\r\nBcc: c@d", "<a@b>", "a b@c", "a@b c@d", "@b", '"x"@b'])(
    "has one address: %j",
    (to) =>
      Effect.gen(function* () {
        const { channels } = yield* setUp
        assert.strictEqual(
          statusAndError(yield* channels.create(stranger(to))),
          "422 validation_failed"
        )
      })
  )
})
