// @tags slow
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
import { collide } from "../../support/collide.ts"
import { type Answer, runConcurrently } from "../../support/http.ts"
import { type TestApp, twoTestNodesLayer } from "../../support/TestApp.ts"
import { setUpHeartbeats, type heartbeatClientOf, ping } from "../monitors.ts"

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

type Act = "ping" | "fail" | "pause" | "edit" | "check" | "remove"

const acts: ReadonlyArray<Act> = ["ping", "fail", "pause", "edit", "check", "remove"]

/** All pairs of changes, in both orders. */
const pairs = acts.flatMap((first) => acts.map((second) => [first, second] as const))

/**
 * Makes two simultaneous changes to a monitor that is up, down or overdue, and checks the result.
 */
const race = Effect.fnUntraced(function* (
  heartbeats: ReturnType<typeof heartbeatClientOf>,
  state: "up" | "down" | "overdue",
  pair: readonly [Act, Act]
) {
  const sql = yield* SqlClient.SqlClient
  const { check } = yield* Effect.provide(Deadlines, deadlines)
  const input = { name: "raced", period_seconds: 30, grace_seconds: 30 }
  const { id, ping_url } = (yield* heartbeats.create(input)).body
  yield* ping(ping_url, state === "down" ? "/fail" : "")
  yield* TestClock.adjust(state === "overdue" ? "2 minutes" : "1 second")
  const doing: Readonly<Record<Act, Effect.Effect<Answer | number, never, TestApp>>> = {
    ping: ping(ping_url, "", { at: "otherUrl" }),
    fail: ping(ping_url, "/fail"),
    pause: heartbeats.act(id, "pause"),
    edit: heartbeats.update(id, { grace_seconds: 60 }),
    check,
    remove: heartbeats.remove(id)
  }
  const both = pair.map((act) => doing[act])
  // A check skips locked rows, so it cannot be made to wait.
  const answers = yield* pair.includes("check")
    ? runConcurrently(both)
    : collide(sql`SELECT FROM heartbeats WHERE monitor_id = ${id} FOR UPDATE`, both)
  for (const answer of answers) {
    if (typeof answer !== "number") assert.include([200, 204, 404], answer.status, answer.text)
  }
  yield* check
  const monitor = yield* heartbeats.get(id)
  const { body } = yield* heartbeats.incidents(`?subject_id=${id}`)
  const incidents: ReadonlyArray<Incident> = body.data
  if (pair.includes("remove")) {
    assert.strictEqual(monitor.status, 404)
    assert.deepStrictEqual(incidents, [])
    return
  }
  const { open_incident_id, status } = monitor.body
  assert.deepStrictEqual(
    incidents.filter((one) => one.closed_at === null).map((one) => one.id),
    status === "down" ? [open_incident_id] : []
  )
  if (status !== "down") assert.isNull(open_incident_id)
  // Whatever the order of the changes, incidents must not overlap, and an overdue monitor must have
  // an incident.
  const times = incidents.toReversed().flatMap((one) => [one.opened_at, one.closed_at ?? []].flat())
  assert.deepStrictEqual(times, times.toSorted())
  if (state === "overdue") assert.isNotEmpty(incidents)
  const notifications = yield* sql<{ event: string }>`
    SELECT event
    FROM outbox
    WHERE subject_id = ${id}
    ORDER BY ordinal`
  notifications.forEach(({ event }, index) => {
    assert.notStrictEqual(event, notifications[index - 1]?.event)
  })
})

layer(twoTestNodesLayer())("two simultaneous changes of a heartbeat", (it) => {
  it.effect.each(["up", "down", "overdue"] as const)(
    "leave consistent incidents and notifications if the monitor is %s",
    (state) =>
      Effect.gen(function* () {
        const { heartbeats } = yield* setUpHeartbeats
        for (const pair of pairs) {
          yield* race(heartbeats, state, pair).pipe(
            Effect.mapError((error) => new Error(`${pair.join(" and ")}: ${String(error)}`))
          )
        }
      })
  )
})

interface Incident {
  readonly id: string
  readonly opened_at: string
  readonly closed_at: string | null
}
