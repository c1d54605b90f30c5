import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Secrets } from "../../src/core/Secrets.ts"
import { acknowledgeLink } from "../../src/notifications/links/acknowledgeLinks.ts"
import { beginWith } from "../monitoring/monitors.ts"
import { ask } from "../support/http.ts"
import { testAppLayer, testConfig, testNow } from "../support/TestApp.ts"

const ring = Effect.map(Secrets, (service) => service.keys("notification-link")).pipe(
  Effect.provide(Secrets.layerFrom(testConfig.appSecret ?? Redacted.make(""))),
  Effect.runSync
)

/** An open incident of a monitor whose name is not harmless, and the link to acknowledge it. */
const begin = Effect.gen(function* () {
  const { heartbeats, member, ping } = yield* beginWith({ name: "Backup <b>" })
  yield* ping("/fail")
  const { body } = yield* heartbeats.incidents()
  const [incident] = body.data
  const channel = yield* ask("POST", `${member.workspace}/notifications/channels`, {
    token: member.access_token,
    body: { name: "hook", kind: "webhook", config: { url: "https://hook.test/" } }
  })
  assert.strictEqual(channel.status, 201, channel.text)
  const linkFor = (incidentId: string, channelId: string) =>
    acknowledgeLink(ring, "", incidentId, channelId, new Date(testNow))
  const status = Effect.map(
    ask("GET", `${member.workspace}/incidents/${incident.id}`, { token: member.access_token }),
    (response) => response.body
  )
  return {
    channel: channel.body,
    incident,
    link: linkFor(incident.id, channel.body.id),
    linkFor,
    member,
    ping,
    status
  }
})

layer(testAppLayer())("the link in a message about an incident", (it) => {
  it.effect("acknowledges it by its button, once, and not by being opened", () =>
    Effect.gen(function* () {
      const { channel, link, status } = yield* begin
      for (const method of ["GET", "GET", "HEAD"]) {
        const page = yield* ask(method, link)
        assert.strictEqual(page.status, 200)
        if (method === "GET") assert.include(page.text, "Backup &#60;b&#62;")
        assert.strictEqual((yield* status).status, "open")
      }
      const confirmed = yield* ask("POST", link)
      assert.include(confirmed.text, "No more reminders")
      const after = yield* status
      assert.deepInclude(after, { status: "acknowledged", acknowledged_by: channel.id })
      assert.deepInclude(after.timeline.at(-1).actor, { kind: "channel", name: "hook" })
      yield* TestClock.adjust("1 minute")
      const again = yield* ask("POST", link)
      assert.include(again.text, "already")
      assert.deepStrictEqual(yield* status, after)
      assert.notInclude((yield* ask("GET", link)).text, "<button>")
    })
  )

  it.effect("is of no use for anything else", () =>
    Effect.gen(function* () {
      const { channel, incident, link, linkFor, status } = yield* begin
      const other = yield* begin
      const wrong = [
        link.slice(0, -1),
        `${link.slice(0, -1)}${link.endsWith("A") ? "B" : "A"}`,
        link.replace(incident.id, other.incident.id),
        link.replace("/acknowledge/", "/confirm/"),
        link.replace("/acknowledge/", "/unsubscribe/"),
        linkFor(randomUUID(), channel.id),
        linkFor(incident.id, other.channel.id),
        linkFor(incident.id, randomUUID())
      ]
      for (const each of wrong) {
        const { status: code } = yield* ask("POST", each)
        assert.isTrue(code === 404 || code === 410, `${each}: ${code}`)
      }
      assert.strictEqual((yield* status).status, "open")
      assert.strictEqual((yield* other.status).status, "open")
    })
  )

  it.effect("stops working after a week, and with its channel", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const paused = yield* begin
      yield* ask(
        "PATCH",
        `${paused.member.workspace}/notifications/channels/${paused.channel.id}`,
        {
          token: paused.member.access_token,
          body: { paused: true }
        }
      )
      yield* ask("POST", paused.link)
      assert.strictEqual((yield* paused.status).status, "open")
      const { incident, link } = yield* begin
      yield* TestClock.setTime(testNow + 7 * 86_400_000)
      yield* ask("POST", link)
      const rows = yield* sql`
        SELECT acknowledged_at
        FROM incidents
        WHERE id = ${incident.id}`
      assert.deepStrictEqual(rows, [{ acknowledged_at: null }])
    })
  )

  it.effect("tells of an incident that is closed", () =>
    Effect.gen(function* () {
      const { link, ping, status } = yield* begin
      yield* ping("")
      assert.include((yield* ask("POST", link)).text, "is closed")
      assert.isNull((yield* status).acknowledged_at)
    })
  )
})
