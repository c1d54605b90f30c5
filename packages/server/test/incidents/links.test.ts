import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Secrets } from "../../src/core/Secrets.ts"
import { incidentLink } from "../../src/notifications/links/incidentLink.ts"
import { setUpHeartbeat } from "../monitoring/monitors.ts"
import { ask } from "../support/http.ts"
import { testAppLayer, testConfig, testNow } from "../support/TestApp.ts"

const ring = Effect.map(Secrets, (service) => service.keys("notification-link")).pipe(
  Effect.provide(Secrets.layerFrom(testConfig.appSecret ?? Redacted.make(""))),
  Effect.runSync
)

/** Opens an incident for a monitor with a hostile name, and returns the link in its messages. */
const setUp = Effect.gen(function* () {
  const { heartbeats, member, ping } = yield* setUpHeartbeat({ name: "Backup <b>" })
  yield* ping("/fail")
  const { body } = yield* heartbeats.incidents()
  const [incident] = body.data
  const channel = yield* ask("POST", `${member.workspace}/notifications/channels`, {
    token: member.access_token,
    body: { name: "hook", kind: "webhook", config: { url: "https://hook.test/" } }
  })
  assert.strictEqual(channel.status, 201, channel.text)
  const linkFor = (incidentId: string, channelId: string) =>
    incidentLink(ring, "", incidentId, channelId, new Date(testNow))
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

/** Presses a button on the page that a link opens. */
const press = (link: string, action: string) =>
  ask("POST", link, {
    body: new URLSearchParams({ action }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" }
  })

layer(testAppLayer())("the link in a message about an incident", (it) => {
  it.effect("acknowledges it by its button, once, and not by being opened", () =>
    Effect.gen(function* () {
      const { channel, link, status } = yield* setUp
      for (const method of ["GET", "GET", "HEAD"]) {
        const page = yield* ask(method, link)
        assert.strictEqual(page.status, 200)
        if (method === "GET") assert.include(page.text, "Backup &#60;b&#62;")
        assert.strictEqual((yield* status).status, "open")
      }
      const confirmed = yield* press(link, "acknowledge")
      assert.include(confirmed.text, "No more reminders")
      const after = yield* status
      assert.deepInclude(after, { status: "acknowledged", acknowledged_by: channel.id })
      assert.deepInclude(after.timeline.at(-1).actor, { kind: "channel", name: "hook" })
      yield* TestClock.adjust("1 minute")
      const again = yield* press(link, "acknowledge")
      assert.include(again.text, "already")
      assert.deepStrictEqual(yield* status, after)
      assert.notInclude((yield* ask("GET", link)).text, "<button>")
    })
  )

  it.effect("snoozes it, and closes it", () =>
    Effect.gen(function* () {
      const { channel, link, status } = yield* setUp
      assert.strictEqual((yield* press(link, "reopen")).status, 400)
      assert.strictEqual((yield* ask("POST", link)).status, 400)
      assert.include((yield* press(link, "snooze_hour")).text, "for 1 hour")
      const snoozed = yield* status
      assert.deepInclude(snoozed, {
        status: "open",
        snoozed_until: new Date(testNow + 3_600_000).toISOString()
      })
      assert.notInclude((yield* ask("GET", link)).text, "Snooze")
      assert.strictEqual((yield* press(link, "snooze_day")).status, 400)
      assert.include((yield* press(link, "close")).text, "is closed")
      const closed = yield* status
      assert.strictEqual(closed.status, "closed")
      assert.deepInclude(closed.timeline.at(-1).actor, { kind: "channel", id: channel.id })
      yield* press(link, "acknowledge")
      assert.deepStrictEqual(yield* status, closed)
      const other = yield* setUp
      assert.include((yield* press(other.link, "snooze_day")).text, "for 24 hours")
    })
  )

  it.effect("snoozes it again once it is no longer snoozed", () =>
    Effect.gen(function* () {
      const { incident, link } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      for (const hour of [1, 2]) {
        assert.include((yield* press(link, "snooze_hour")).text, "for 1 hour")
        assert.strictEqual((yield* press(link, "snooze_hour")).status, 400)
        const [row] = yield* sql`SELECT snoozed_until FROM incidents WHERE id = ${incident.id}`
        assert.deepStrictEqual(row, { snoozed_until: new Date(testNow + hour * 3_600_000) })
        yield* TestClock.adjust("1 hour")
      }
    })
  )

  it.effect("is of no use for anything else", () =>
    Effect.gen(function* () {
      const { channel, incident, link, linkFor, status } = yield* setUp
      const other = yield* setUp
      const wrong = [
        link.slice(0, -1),
        `${link.slice(0, -1)}${link.endsWith("A") ? "B" : "A"}`,
        link.replace(incident.id, other.incident.id),
        link.replace("/incident/", "/approve/"),
        link.replace("/incident/", "/confirm/"),
        link.replace("/incident/", "/unsubscribe/"),
        linkFor(randomUUID(), channel.id),
        linkFor(incident.id, other.channel.id),
        linkFor(incident.id, randomUUID())
      ]
      for (const each of wrong) {
        const { status: code } = yield* press(each, "acknowledge")
        assert.isTrue(code === 404 || code === 410, `${each}: ${code}`)
      }
      assert.strictEqual((yield* status).status, "open")
      assert.strictEqual((yield* other.status).status, "open")
    })
  )

  it.effect("stops working after a week, and with its channel", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const paused = yield* setUp
      yield* ask(
        "PATCH",
        `${paused.member.workspace}/notifications/channels/${paused.channel.id}`,
        {
          token: paused.member.access_token,
          body: { paused: true }
        }
      )
      yield* press(paused.link, "acknowledge")
      assert.strictEqual((yield* paused.status).status, "open")
      const { incident, link } = yield* setUp
      yield* TestClock.setTime(testNow + 7 * 86_400_000)
      yield* press(link, "acknowledge")
      const rows = yield* sql`
        SELECT acknowledged_at
        FROM incidents
        WHERE id = ${incident.id}`
      assert.deepStrictEqual(rows, [{ acknowledged_at: null }])
    })
  )

  it.effect("says that the incident is closed", () =>
    Effect.gen(function* () {
      const { link, ping, status } = yield* setUp
      yield* ping("")
      assert.include((yield* press(link, "acknowledge")).text, "is closed")
      assert.isNull((yield* status).acknowledged_at)
    })
  )
})
