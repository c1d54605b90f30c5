import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Router } from "../../src/notifications/routing/Router.ts"
import { alertLimits, Sender } from "../../src/notifications/sending/Sender.ts"
import { Outbox } from "../../src/events/Outbox.ts"
import { makeRunId } from "../../src/engine/RunId.ts"
import { StoreClock } from "../../src/store/StoreClock.ts"
import { insertTask } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import {
  deliveriesTo,
  insertChannels,
  insertWorkspaceOf,
  steppedNotifierLayer
} from "./support/nodes.ts"
import { startHttpReceiver, type Reply } from "./support/receivers.ts"
import {
  announcementData,
  eventsIn,
  incidentOf,
  runData,
  titleIn,
  typesIn
} from "./support/events.ts"

const noon = Date.UTC(2026, 5, 1, 12)

let share = 1_000
const setUp = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, unknown>> = {},
  answer: () => Reply = () => ({})
) {
  yield* TestClock.setTime(noon)
  const workspace_id = yield* insertWorkspaceOf(++share)
  const receiver = yield* startHttpReceiver(answer)
  const [channel = ""] = yield* insertChannels(
    workspace_id,
    [{ config: { url: receiver.url, authorization: "Bearer verysecret" } }],
    settings
  )
  const outbox = yield* Outbox
  const say = Effect.fnUntraced(function* (
    event: "incident.opened" | "incident.closed" | "execution.failed" | "certificate.expiring",
    subject_id: string = randomUUID()
  ) {
    const at = yield* DateTime.nowAsDate
    const data = announcementData(event, subject_id)
    yield* outbox.announce({ workspace_id, event, subject_id, at, data })
  })
  return { workspace_id, receiver, channel, say }
})

const route = Effect.flatMap(Router, (router) => router.route)

/** Sends all messages that are due now. */
const send = Effect.gen(function* () {
  const sender = yield* Sender
  const claimed = yield* sender.claim(alertLimits, [])
  yield* Effect.forEach(claimed, sender.send, { concurrency: 10 })
  return claimed.length
})

const step = Effect.andThen(route, send)

const statuses = (channel: string) =>
  Effect.map(deliveriesTo(channel), (rows) => rows.map(({ status }) => status))

const StepsLayer = steppedNotifierLayer().pipe(
  Layer.provide(Layer.succeed(StoreClock, () => DateTime.nowAsDate)),
  Layer.provideMerge(TestDatabaseLayer)
)

layer(StepsLayer, { timeout: "60 seconds" })("Step by step", (it) => {
  it.effect("a failed run is announced under the name of its task", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { receiver, workspace_id } = yield* setUp({ group_seconds: 0 })
      const task = yield* insertTask(workspace_id)
      yield* sql`
        UPDATE tasks
        SET name = 'Nightly backup'
        WHERE id = ${task}`
      const at = yield* DateTime.nowAsDate
      yield* sql`
        INSERT INTO outbox (workspace_id, event, subject_id, at, data)
        VALUES (
          ${workspace_id}, 'execution.failed', ${task}, ${at},
          ${JSON.stringify({ run: runData() })}::jsonb
        )`
      yield* step
      assert.include(titleIn(receiver.received[0]?.body), "Nightly backup")
      const used = yield* sql`
        SELECT day::text, notifications::int
        FROM usage_days
        WHERE workspace_id = ${workspace_id}`
      assert.deepStrictEqual(used, [{ day: "2026-06-01", notifications: 1 }])
    })
  )

  it.effect("events of quiet hours come as one message in the morning", () =>
    Effect.gen(function* () {
      const { receiver, say } = yield* setUp({
        quiet_hours: { timezone: "UTC", from: "11:00", to: "13:00" }
      })
      const subject = randomUUID()
      yield* say("incident.opened", subject)
      yield* step
      yield* TestClock.adjust("30 minutes")
      yield* say("incident.closed", subject)
      yield* say("certificate.expiring")
      yield* step
      assert.isEmpty(receiver.received)
      yield* TestClock.adjust("29 minutes")
      assert.strictEqual(yield* send, 0)
      yield* TestClock.adjust("1 minute")
      yield* send
      assert.lengthOf(receiver.received, 1)
      assert.deepStrictEqual(typesIn(receiver.received[0]?.body), [
        "incident.opened",
        "incident.closed",
        "certificate.expiring"
      ])
    })
  )

  it.effect("a held message is sent with the next event once quiet hours are switched off", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { channel, receiver, say, workspace_id } = yield* setUp({
        quiet_hours: { timezone: "UTC", from: "11:00", to: "19:00" }
      })
      yield* say("incident.opened")
      yield* step
      assert.isEmpty(receiver.received)
      yield* sql`
        UPDATE notification_settings
        SET settings = settings || '{"quiet_hours": null}'
        WHERE workspace_id = ${workspace_id}`
      yield* say("incident.opened")
      yield* step
      assert.deepStrictEqual(yield* statuses(channel), ["delivered"])
      assert.lengthOf(eventsIn(receiver.received[0]?.body), 2)
    })
  )

  for (const kind of ["cron", "chain"] as const) {
    it.effect(`a success of a ${kind} that another node wrote at the same time is not missed`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { receiver, workspace_id } = yield* setUp({ group_seconds: 0 })
        const { remind } = yield* Router
        const task_id = yield* insertTask(workspace_id)
        const end = Effect.fnUntraced(function* (status: string, atMs: number, head?: string) {
          const id = makeRunId(noon, noon)
          const at = new Date(noon + atMs)
          const own = { workspace_id, task_id, kind, trigger: "schedule", status }
          const place = kind === "chain" ? { chain_run_id: head ?? id, step_index: 0 } : {}
          const times = { scheduled_for: at, finished_at: at, attempts_count: 1 }
          const error = status === "failed" ? "dns: host not found" : null
          yield* sql`INSERT INTO executions ${sql.insert({ id, ...own, ...place, ...times, error })}`
          return id
        })
        const noun = kind === "chain" ? "chain_run" : "execution"
        yield* end("succeeded", 5)
        const failed = yield* end("failed", 10)
        if (kind === "chain") yield* end("succeeded", 15, failed)
        yield* sql`
          INSERT INTO outbox (workspace_id, event, subject_id, at, data)
          VALUES (
            ${workspace_id}, ${`${noun}.failed`}, ${task_id}, ${new Date(noon)},
            ${JSON.stringify({ run: runData({ kind, execution_id: failed }) })}::jsonb
          )`
        const types = Effect.andThen(
          Effect.andThen(remind, step),
          Effect.sync(() => receiver.received.flatMap(({ body }) => typesIn(body)))
        )
        yield* step
        // There has been no success since then.
        yield* TestClock.adjust("41 seconds")
        assert.deepStrictEqual(yield* types, [`${noun}.failed`])
        yield* sql`
          UPDATE problems
          SET check_at = ${new Date(noon)}
          WHERE subject_id = ${task_id}`
        yield* end("succeeded", 20)
        assert.deepStrictEqual(yield* types, [`${noun}.failed`, "task.recovered"])
      })
    )
  }

  it.effect("an open problem is repeated until it ends", () =>
    Effect.gen(function* () {
      const { receiver, say } = yield* setUp({ remind_every_seconds: 3_600, group_seconds: 0 })
      const { remind } = yield* Router
      const subject = randomUUID()
      yield* say("incident.opened", subject)
      yield* step
      for (const hours of [1, 2]) {
        yield* TestClock.adjust("59 minutes")
        yield* remind
        yield* step
        assert.lengthOf(receiver.received, hours)
        yield* TestClock.adjust("1 minute")
        yield* remind
        yield* step
        assert.strictEqual(titleIn(receiver.received.at(-1)?.body), "Still down: db")
      }
      yield* say("incident.closed", subject)
      yield* step
      yield* TestClock.adjust("2 hours")
      yield* remind
      yield* step
      assert.deepStrictEqual(typesIn(receiver.received.at(-1)?.body), ["incident.closed"])
      assert.lengthOf(receiver.received, 4)
    })
  )

  it.effect("a channel that no longer exists is paused once, and the others are notified", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { channel, say, workspace_id } = yield* setUp({ group_seconds: 0 }, () => ({
        status: 410,
        body: "no Bearer verysecret here any more"
      }))
      const other = yield* startHttpReceiver()
      yield* sql`DELETE FROM notification_settings WHERE workspace_id = ${workspace_id}`
      yield* insertChannels(workspace_id, [{ config: { url: other.url } }])
      yield* sql`
        UPDATE notification_settings
        SET settings = jsonb_set(settings, '{rules,0,channel_ids}', to_jsonb(ARRAY[${channel}]))
        WHERE workspace_id = ${workspace_id}`
      yield* say("incident.opened")
      yield* say("incident.opened")
      yield* step
      yield* step
      const [row] = yield* sql<{
        readonly paused: boolean
        readonly paused_reason: string
      }>`
        SELECT paused, paused_reason
        FROM notification_channels
        WHERE id = ${channel}`
      assert.deepStrictEqual(row, {
        paused: true,
        paused_reason: "responded with 410: no ••• here any more"
      })
      assert.lengthOf(other.received, 1)
      assert.deepStrictEqual(typesIn(other.received[0]?.body), ["channel.paused"])
      assert.deepStrictEqual(yield* statuses(channel), ["failed"])
      yield* say("incident.opened")
      yield* step
      assert.lengthOf(yield* statuses(channel), 1)
    })
  )

  it.effect("a failing delivery is retried with growing waits, for a day", () =>
    Effect.gen(function* () {
      const { channel, receiver, say } = yield* setUp({}, () => ({ status: 500 }))
      yield* say("incident.opened")
      yield* step
      const began = receiver.received.length
      assert.strictEqual(began, 1)
      for (let minute = 0; minute < 24 * 60 + 60; minute += 5) {
        yield* TestClock.adjust("5 minutes")
        yield* send
      }
      const [only] = yield* deliveriesTo(channel)
      assert.strictEqual(only?.status, "failed")
      assert.isAbove(only?.attempts_count ?? 0, 40)
      assert.isBelow(only?.attempts_count ?? 0, 80)
      assert.strictEqual(
        new Set(receiver.received.map(({ headers }) => headers["idempotency-key"])).size,
        1
      )
    })
  )

  it.effect("nothing is sent to a provider before its Retry-After", () =>
    Effect.gen(function* () {
      let isBusy = true
      const { receiver, say } = yield* setUp({ group_seconds: 0 }, () =>
        isBusy ? { status: 429, headers: { "retry-after": "600" } } : {}
      )
      yield* say("incident.opened")
      yield* step
      isBusy = false
      yield* say("incident.opened")
      yield* TestClock.adjust("599 seconds")
      yield* step
      assert.lengthOf(receiver.received, 1)
      yield* TestClock.adjust("1 second")
      yield* send
      yield* send
      assert.lengthOf(receiver.received, 3)
    })
  )

  it.effect("a recovery waits for the message about its problem, and nothing else does", () =>
    Effect.gen(function* () {
      let failures = 1
      const { receiver, say } = yield* setUp({ group_seconds: 0 }, () =>
        failures-- > 0 ? { status: 500 } : {}
      )
      const subject = randomUUID()
      yield* say("incident.opened", subject)
      yield* step
      yield* say("incident.closed", subject)
      yield* say("certificate.expiring")
      // The channel is retried after one second, and the failed message after about two.
      yield* TestClock.adjust("1 second")
      yield* step
      yield* TestClock.adjust("2 seconds")
      yield* send
      yield* TestClock.adjust("1 second")
      yield* send
      assert.deepStrictEqual(
        receiver.received.flatMap(({ body }) => typesIn(body)),
        ["incident.opened", "certificate.expiring", "incident.opened", "incident.closed"]
      )
    })
  )

  it.effect("a delivery of a lost node is sent again with the same id", () =>
    Effect.gen(function* () {
      const { channel, receiver, say } = yield* setUp()
      const sender = yield* Sender
      yield* say("incident.opened")
      yield* route
      const lost = yield* sender.claim(alertLimits, [])
      assert.lengthOf(lost, 1)
      assert.strictEqual(yield* send, 0)
      yield* TestClock.adjust("25 seconds")
      yield* send
      // The node that lost its lease continues: it sends its messages, but records nothing.
      for (const one of lost) yield* sender.send(one)
      assert.lengthOf(receiver.received, 2)
      assert.strictEqual(receiver.received[0]?.body.id, receiver.received[1]?.body.id)
      const [only] = yield* deliveriesTo(channel)
      assert.deepInclude(only, { status: "delivered", attempts_count: 2 })
    })
  )

  it.effect(
    "a paused or deleted subject closes its incidents, and is announced to nobody else",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { receiver, say, workspace_id } = yield* setUp({ group_seconds: 0 })
        const { forget } = yield* Outbox
        yield* sql`DELETE FROM notification_settings WHERE workspace_id = ${workspace_id}`
        const [pagerduty = "", webhook = ""] = yield* insertChannels(workspace_id, [
          { kind: "pagerduty", config: { routing_key: "aB3".repeat(11).slice(0, 32) } },
          { config: { url: receiver.url } }
        ])
        // The rules select only opened incidents, but incidents are still closed.
        yield* sql`
        UPDATE notification_settings
        SET settings = jsonb_set(settings, '{rules,0,events}', '["incident.opened"]')
        WHERE workspace_id = ${workspace_id}`
        const [known, unknown] = [randomUUID(), randomUUID()]
        yield* say("incident.opened", known)
        yield* route
        // This monitor is deleted before a notification about its incident is sent.
        yield* say("incident.opened", unknown)
        for (const subject_id of [known, unknown, known])
          yield* forget({ workspace_id, subject_id })
        yield* route
        const keys = sql<{
          readonly channel_id: string
          readonly incident_key: string | null
          readonly events: ReadonlyArray<string>
        }>`
        SELECT channel_id, incident_key, jsonb_path_query_array(shown, '$[*].event') AS events
        FROM notification_deliveries
        WHERE channel_id IN (${pagerduty}, ${webhook})
        ORDER BY channel_id = ${webhook}, ordinal`
        assert.deepStrictEqual(yield* keys, [
          { channel_id: pagerduty, incident_key: known, events: ["incident.opened"] },
          { channel_id: pagerduty, incident_key: known, events: ["incident.closed"] },
          { channel_id: webhook, incident_key: null, events: ["incident.opened"] }
        ])
        const left = yield* sql`SELECT 1 FROM problems WHERE workspace_id = ${workspace_id}`
        assert.isEmpty(left)
        assert.isEmpty(yield* sql`SELECT 1 FROM outbox WHERE workspace_id = ${workspace_id}`)
      })
  )

  it.effect("an incident knows the messages about it, also those about several incidents", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { channel, workspace_id } = yield* setUp()
      const { announce } = yield* Outbox
      const incidents = [randomUUID(), randomUUID()]
      const at = yield* DateTime.nowAsDate
      for (const [index, incident_id] of incidents.entries()) {
        const subject_id = randomUUID()
        yield* announce({
          workspace_id,
          event: "incident.opened",
          subject_id,
          at,
          data: { name: `db ${index}`, about: { incident: incidentOf(subject_id, incident_id) } }
        })
        yield* route
      }
      const [only] = yield* deliveriesTo(channel)
      const links = yield* sql<{ readonly incident_id: string; readonly delivery_id: string }>`
        SELECT incident_id, delivery_id
        FROM incident_deliveries
        WHERE incident_id = ANY (${incidents}::uuid[])`
      assert.sameDeepMembers(
        [...links],
        incidents.map((incident_id) => ({ incident_id, delivery_id: only?.id ?? "" }))
      )
    })
  )

  it.effect("nobody is notified of events in a deleted workspace", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { receiver, say, workspace_id } = yield* setUp()
      yield* say("incident.opened")
      yield* sql`DELETE FROM workspaces WHERE id = ${workspace_id}`
      yield* step
      assert.isEmpty(receiver.received)
      assert.isEmpty(yield* sql`SELECT 1 FROM outbox WHERE workspace_id = ${workspace_id}`)
    })
  )
})
