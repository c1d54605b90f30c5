import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { linkTokenFor } from "../accounts/email/linkTokenFor.ts"
import { advanceUntil } from "../support/advanceUntil.ts"
import { ask, type Member, statusAndError, signUp } from "../support/http.ts"
import { notificationClientOf } from "./support/channels.ts"
import { announcementData } from "./support/events.ts"
import { appWithMail, Mails } from "./support/withMail.ts"

const escalationsOf = ({ access_token: token, workspace }: Member) => ({
  put: (key: string, definition: object, headers: Readonly<Record<string, string>> = {}) =>
    ask("PUT", `${workspace}/escalations/${key}`, { token, headers, body: definition }),
  get: (key: string) => ask("GET", `${workspace}/escalations/${key}`, { token }),
  list: ask("GET", `${workspace}/escalations`, { token }),
  remove: (key: string) => ask("DELETE", `${workspace}/escalations/${key}`, { token })
})

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const channels = notificationClientOf(member)
  const { body } = yield* channels.put("operations", {
    name: "Operations",
    kind: "webhook",
    config: { url: "https://alerts.example.com/hook" }
  })
  return { member, channels, channel: String(body.id), policies: escalationsOf(member) }
})

const verify = (member: Member) =>
  Effect.flatMap(linkTokenFor("email", member), (token) =>
    ask("POST", "/v1/auth/email/verify", { body: { token } })
  )

/** Adds a colleague with a verified address to the member's workspace. */
const colleagueOf = Effect.fnUntraced(function* ({ workspace_id }: Member) {
  const sql = yield* SqlClient.SqlClient
  const colleague = yield* signUp()
  yield* verify(colleague)
  yield* sql`
    INSERT INTO memberships (user_id, workspace_id, role, created_at)
    VALUES (${colleague.user_id}, ${workspace_id}, 'editor', now())`
  return colleague
})

layer(appWithMail("on"))("An escalation policy", (it) => {
  it.effect("is created, changed, listed and deleted by its key", () =>
    Effect.gen(function* () {
      const { channel, policies } = yield* setUp
      const steps = [{ after_seconds: 0, channel_keys: ["operations"] }]
      const created = yield* policies.put("on-call", { name: "On call", steps })
      assert.strictEqual(created.status, 201, created.text)
      assert.containSubset(created.body, {
        key: "on-call",
        version: 1,
        steps: [
          {
            after_seconds: 0,
            channel_ids: [channel],
            channel_keys: ["operations"],
            member_ids: []
          }
        ],
        repeat_count: 0,
        repeat_after_seconds: 1_800
      })
      const same = yield* policies.put("on-call", created.body)
      assert.deepStrictEqual([same.status, same.body], [200, created.body])
      const stale = yield* policies.put("on-call", { name: "Nights", steps }, { "if-match": '"7"' })
      assert.deepStrictEqual(statusAndError(stale), "412 stale")
      const changed = yield* policies.put("on-call", { name: "Nights", steps, repeat_count: 3 })
      assert.containSubset(changed.body, { version: 2, name: "Nights", repeat_count: 3 })
      assert.deepStrictEqual((yield* policies.list).body.data, [changed.body])
      assert.strictEqual((yield* policies.remove("on-call")).status, 204)
      assert.strictEqual((yield* policies.get("on-call")).status, 404)
    })
  )

  it.effect("can refer only to channels and members of its workspace", () =>
    Effect.gen(function* () {
      const { policies } = yield* setUp
      const other = yield* setUp
      for (const recipients of [
        { channel_ids: [other.channel] },
        { channel_keys: ["unknown"] },
        { member_ids: [other.member.user_id] },
        {}
      ]) {
        const { body, status } = yield* policies.put("on-call", {
          name: "On call",
          steps: [{ after_seconds: 0, ...recipients }]
        })
        assert.strictEqual(status, 422)
        assert.deepStrictEqual(body.detail.issues[0].path.slice(0, 2), ["steps", 0])
      }
    })
  )

  it.effect("that a rule names is not deleted, nor is a channel that it names", () =>
    Effect.gen(function* () {
      const { channel, channels, policies } = yield* setUp
      const { body } = yield* policies.put("on-call", {
        name: "On call",
        steps: [{ after_seconds: 0, channel_ids: [channel] }]
      })
      const { body: settings } = yield* channels.settings
      const events = ["incident.opened", "incident.closed"]
      for (const rule of [{ escalation_id: body.id }, { escalation_key: "on-call" }]) {
        const { version } = (yield* channels.settings).body
        const replaced = yield* channels.replace({
          ...settings,
          version,
          rules: [...settings.rules, { events, ...rule }]
        })
        assert.strictEqual(replaced.status, 200, replaced.text)
        assert.deepInclude(replaced.body.rules.at(-1), {
          channel_ids: [],
          escalation_id: body.id,
          escalation_key: "on-call"
        })
        const again = yield* channels.replace(replaced.body)
        assert.strictEqual(again.status, 200, again.text)
      }
      const kept = yield* policies.remove("on-call")
      assert.strictEqual(kept.status, 409)
      assert.include(kept.body.detail.message, "rules[1]")
      const used = yield* channels.remove(channel)
      assert.strictEqual(used.status, 409)
      assert.include(used.body.detail.message, "On call")
      const { version } = (yield* channels.settings).body
      yield* channels.replace({ ...settings, version })
      assert.strictEqual((yield* policies.remove("on-call")).status, 204)
      assert.strictEqual((yield* channels.remove(channel)).status, 204)
    })
  )

  it.effect("is named by rules only if it exists in the workspace", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const other = yield* setUp
      const { body } = yield* other.policies.put("on-call", {
        name: "On call",
        steps: [{ after_seconds: 0, channel_ids: [other.channel] }]
      })
      const { version } = (yield* channels.settings).body
      for (const rule of [
        { escalation_id: body.id },
        { escalation_key: "on-call" },
        { channel_keys: [] },
        { channel_ids: [] }
      ]) {
        const refused = yield* channels.replace({
          version,
          rules: [{ events: ["incident.opened"], ...rule }]
        })
        assert.strictEqual(refused.status, 422, refused.text)
      }
    })
  )

  it.effect("mails members at their verified address, until they leave", () =>
    Effect.gen(function* () {
      const { channels, member, policies } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      const colleague = yield* colleagueOf(member)
      const { body } = yield* policies.put("on-call", {
        name: "On call",
        steps: [
          { after_seconds: 0, member_ids: [colleague.user_id] },
          { after_seconds: 60, member_ids: [colleague.user_id], channel_keys: ["operations"] }
        ]
      })
      const addressed = (yield* channels.list()).body.data.filter(
        ({ config }: { readonly config: { readonly to?: string } }) => config.to === colleague.email
      )
      assert.lengthOf(addressed, 1)
      assert.containSubset(addressed[0], { confirmed: true, kind: "email" })
      // If somebody has deleted a channel, it is created again for the next step.
      assert.strictEqual((yield* channels.remove(addressed[0].id)).status, 204)
      const { version } = (yield* channels.settings).body
      yield* channels.replace({
        version,
        rules: [{ events: ["incident.opened"], escalation_id: body.id }]
      })
      const subject_id = randomUUID()
      yield* sql`
        INSERT INTO outbox (workspace_id, event, subject_id, at, data)
        VALUES (
          ${member.workspace_id}, 'incident.opened', ${subject_id}, now(),
          ${JSON.stringify(announcementData("incident.opened", subject_id))}::jsonb
        )`
      const mails = yield* Mails
      const before = mails.length
      const mailed = () => mails.slice(before).filter(({ to }) => to.includes(colleague.email))
      yield* advanceUntil("1 second", Effect.sync(mailed), ({ length }) => length > 0)
      assert.lengthOf(mailed(), 1)
      const [mail] = mailed()
      assert.deepStrictEqual(mail?.to, [colleague.email])
      assert.match(mail?.headers.get("subject") ?? "", / Down: /)
      assert.match(mail?.text ?? "", /^Down: db\r\n/)
      assert.include(mail?.text, "https://scheduling.test/notifications/incident/")
      yield* sql`
        DELETE FROM memberships
        WHERE user_id = ${colleague.user_id}
          AND workspace_id = ${member.workspace_id}`
      assert.deepInclude((yield* policies.get("on-call")).body.steps[0], { member_ids: [] })
      const deliveries = (kind: string) =>
        Effect.map(channels.deliveries(), ({ body: { data } }) =>
          data.filter((delivery: { readonly kind: string }) => delivery.kind === kind)
        )
      assert.isEmpty(yield* deliveries("webhook"))
      yield* TestClock.adjust("1 minute")
      yield* advanceUntil("1 second", deliveries("webhook"), ({ length }) => length > 0)
      assert.lengthOf(yield* deliveries("email"), 1)
      assert.lengthOf(mailed(), 1)
    })
  )
})
