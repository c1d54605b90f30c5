import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { IncidentsRepo } from "../../../src/incidents/IncidentsRepo.ts"
import { MaintenanceRepo } from "../../../src/incidents/maintenance/MaintenanceRepo.ts"
import { Deadlines } from "../../../src/monitoring/heartbeat/Deadlines.ts"
import { HeartbeatsRepo } from "../../../src/monitoring/heartbeat/HeartbeatsRepo.ts"
import { MonitorEventsRepo } from "../../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../../src/monitoring/MonitorsRepo.ts"
import { StatusChanges } from "../../../src/monitoring/StatusChanges.ts"
import { Outbox } from "../../../src/events/Outbox.ts"
import { Ids } from "../../../src/core/Ids.ts"
import { Signals } from "../../../src/events/Signals.ts"
import { StoreClock } from "../../../src/store/StoreClock.ts"
import { times, runConcurrently } from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { setUpHeartbeat } from "../monitors.ts"

/** A node's deadlines service, on the test's clock. */
const deadlines = Deadlines.layer.pipe(
  Layer.provide(StatusChanges.layer),
  Layer.provide([
    HeartbeatsRepo.layer,
    IncidentsRepo.layer,
    MaintenanceRepo.layer,
    MonitorEventsRepo.layer,
    MonitorsRepo.layer,
    Outbox.layer
  ]),
  Layer.provide([Ids.layer, Signals.layer, Layer.succeed(StoreClock, () => DateTime.nowAsDate)])
)

const node = Effect.map(Effect.provide(Deadlines, deadlines), ({ check }) => check)

/** Checks deadlines until none is due. */
const checkAll = Effect.gen(function* () {
  const check = yield* node
  while ((yield* check) === 0);
})

layer(testAppLayer())("the deadline of a heartbeat", (it) => {
  it.effect("makes the monitor late, then down with one incident, until a ping comes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, heartbeats, id, member, ping } = yield* setUpHeartbeat({ tags: ["nightly"] })
      yield* ping()
      yield* TestClock.adjust("61 minutes")
      yield* checkAll
      assert.deepInclude(yield* get, {
        status: "late",
        last_change_at: "2026-06-01T13:00:00.000Z",
        open_incident_id: null
      })
      yield* TestClock.adjust("4 minutes")
      yield* checkAll
      assert.strictEqual((yield* get).status, "late")
      yield* TestClock.adjust("1 second")
      yield* checkAll
      yield* checkAll
      const down = yield* get
      assert.deepInclude(down, {
        status: "down",
        last_change_at: "2026-06-01T13:05:00.000Z",
        alert_at: null
      })
      const { body: opened } = yield* heartbeats.incidents()
      assert.deepStrictEqual(opened.data, [
        {
          id: down.open_incident_id,
          workspace_id: member.workspace_id,
          subject: { kind: "heartbeat", id, name: "Nightly backup" },
          status: "open",
          opened_at: "2026-06-01T13:05:00.000Z",
          closed_at: null,
          cause: { code: "missed", message: "No ping arrived by 2026-06-01T13:05:00.000Z." },
          acknowledged_by: null,
          acknowledged_at: null,
          snoozed_until: null,
          suppressed: false,
          suppressed_by: null
        }
      ])
      yield* leap("1 hour")
      yield* ping()
      assert.deepInclude(yield* get, { status: "up", open_incident_id: null })
      const { body: closed } = yield* heartbeats.incidents()
      assert.deepStrictEqual(closed.data, [
        { ...opened.data[0], status: "closed", closed_at: "2026-06-01T14:05:01.000Z" }
      ])
      const { cause, subject } = opened.data[0]
      const about = { incident: { id: down.open_incident_id, subject, cause } }
      // The outbox contains the notifications that will be sent.
      const notifications = yield* sql<Record<string, unknown>>`
        SELECT event, at, tags, data
        FROM outbox
        WHERE workspace_id = ${member.workspace_id}
        ORDER BY ordinal`
      assert.deepStrictEqual(notifications, [
        {
          event: "incident.opened",
          at: new Date("2026-06-01T13:05:00.000Z"),
          tags: ["nightly"],
          data: {
            name: "Nightly backup",
            reason: "No ping arrived by 2026-06-01T13:05:00.000Z.",
            about
          }
        },
        {
          event: "incident.closed",
          at: new Date("2026-06-01T14:05:01.000Z"),
          tags: ["nightly"],
          data: { name: "Nightly backup", about }
        }
      ])
      const { body: events } = yield* heartbeats.events(id)
      assert.deepStrictEqual(
        events.data.map(({ at, status, type }: Record<string, string>) => [type, status, at]),
        [
          ["success", "up", "2026-06-01T14:05:01.000Z"],
          ["missed", "down", "2026-06-01T13:05:00.000Z"],
          ["success", "up", "2026-06-01T12:00:00.000Z"]
        ]
      )
    })
  )

  it.effect("is moved by a ping without a write to the index of deadlines", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat()
      const checkAt = Effect.map(
        sql<{ check_at: Date }>`SELECT check_at FROM heartbeats WHERE monitor_id = ${id}`,
        ([row]) => row?.check_at.toISOString()
      )
      yield* ping()
      yield* TestClock.adjust("50 minutes")
      yield* ping()
      // The ping has not changed the indexed column.
      assert.strictEqual(yield* checkAt, "2026-06-01T13:05:00.000Z")
      yield* TestClock.adjust("20 minutes")
      yield* checkAll
      assert.strictEqual(yield* checkAt, "2026-06-01T13:55:00.000Z")
      assert.strictEqual((yield* get).status, "up")
      assert.deepStrictEqual((yield* heartbeats.incidents()).body.data, [])
    })
  )

  it.effect("counts from now if the last ping was dated before the clock was set back", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat({ min_interval_seconds: 60 })
      yield* ping("/start")
      yield* ping()
      yield* sql`
        UPDATE heartbeats
        SET
          last_ping_at = last_ping_at + interval '1 hour',
          began_at = began_at + interval '1 hour',
          expected_at = expected_at + interval '1 hour',
          alert_at = alert_at + interval '1 hour',
          check_at = check_at + interval '1 hour'
        WHERE monitor_id = ${id}`
      const { correctTimes } = yield* Effect.provide(Deadlines, deadlines)
      yield* correctTimes
      assert.deepInclude(yield* get, {
        status: "up",
        last_ping_at: "2026-06-01T12:00:00.000Z",
        expected_at: "2026-06-01T13:00:00.000Z",
        alert_at: "2026-06-01T13:05:00.000Z"
      })
      yield* TestClock.adjust("61 seconds")
      yield* ping()
      yield* checkAll
      assert.strictEqual((yield* get).status, "up")
      yield* leap("2 hours")
      yield* checkAll
      assert.strictEqual((yield* get).status, "down")
      assert.strictEqual((yield* heartbeats.incidents()).body.data.length, 1)
    })
  )

  it.effect("opens one incident if several nodes check it simultaneously", () =>
    Effect.gen(function* () {
      const { heartbeats, ping } = yield* setUpHeartbeat()
      yield* ping()
      yield* leap("2 hours")
      const nodes = yield* runConcurrently(times(4, () => node))
      yield* runConcurrently(nodes.flatMap((check) => [check, check, check]))
      assert.strictEqual((yield* heartbeats.incidents()).body.data.length, 1)
    })
  )

  it.effect("is checked 250 ms late, for pings that are still being written", () =>
    Effect.gen(function* () {
      const { get, ping } = yield* setUpHeartbeat()
      yield* ping()
      yield* TestClock.adjust("65 minutes")
      yield* TestClock.adjust("250 millis")
      yield* checkAll
      assert.strictEqual((yield* get).status, "late")
      yield* TestClock.adjust("1 millis")
      yield* checkAll
      assert.strictEqual((yield* get).status, "down")
    })
  )

  it.effect("opens an incident for a late ping, although no node has checked it before", () =>
    Effect.gen(function* () {
      const { get, heartbeats, ping } = yield* setUpHeartbeat()
      yield* ping()
      yield* leap("3 hours")
      yield* ping()
      yield* checkAll
      assert.deepInclude(yield* get, { status: "up", open_incident_id: null })
      const { body } = yield* heartbeats.incidents()
      assert.deepStrictEqual(
        body.data.map((one: Record<string, unknown>) => [one["opened_at"], one["closed_at"]]),
        [["2026-06-01T13:05:00.000Z", "2026-06-01T15:00:00.000Z"]]
      )
    })
  )

  it.effect("does not pass while the monitor is paused, and a pause closes the incident", () =>
    Effect.gen(function* () {
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat()
      yield* ping("/fail")
      const paused = yield* heartbeats.act(id, "pause")
      assert.deepInclude(paused.body, {
        status: "paused",
        open_incident_id: null,
        next_check_at: null
      })
      assert.deepStrictEqual((yield* heartbeats.act(id, "pause")).body, paused.body)
      assert.isString((yield* heartbeats.incidents()).body.data[0].closed_at)
      yield* leap("1 day")
      yield* ping("/fail")
      yield* checkAll
      assert.strictEqual((yield* get).status, "paused")
      const resumed = yield* heartbeats.act(id, "resume")
      assert.deepInclude(resumed.body, { status: "new", expected_at: "2026-06-02T13:00:00.000Z" })
      assert.deepStrictEqual((yield* heartbeats.act(id, "resume")).body, resumed.body)
      yield* leap("2 hours")
      yield* checkAll
      assert.strictEqual((yield* get).status, "down")
    })
  )

  it.effect("counts from now if it would have passed under new settings", () =>
    Effect.gen(function* () {
      const { get, heartbeats, id, ping } = yield* setUpHeartbeat({ period_seconds: 86_400 })
      yield* ping()
      yield* leap("5 hours")
      const changed = yield* heartbeats.update(id, { period_seconds: 60, grace_seconds: 30 })
      assert.deepInclude(changed.body, {
        status: "up",
        expected_at: "2026-06-01T17:01:00.000Z",
        alert_at: "2026-06-01T17:01:30.000Z"
      })
      yield* TestClock.adjust("2 minutes")
      yield* checkAll
      assert.strictEqual((yield* get).status, "down")
    })
  )
})
