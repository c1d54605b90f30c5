import type { CheckResult } from "@scheduling/domain/monitors/checks/Check"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Ids } from "../../../src/core/Ids.ts"
import { Outbox } from "../../../src/events/Outbox.ts"
import { Signals } from "../../../src/events/Signals.ts"
import { type CheckOutcome, noMeasurements } from "@scheduling/calls/probes/checkErrors"
import { type CheckedMonitor, Checks, Prober } from "../../../src/monitoring/checks/Checks.ts"
import { ChecksRepo } from "../../../src/monitoring/checks/ChecksRepo.ts"
import { IncidentsRepo } from "../../../src/incidents/IncidentsRepo.ts"
import { MaintenanceRepo } from "../../../src/incidents/maintenance/MaintenanceRepo.ts"
import { MonitorEventsRepo } from "../../../src/monitoring/MonitorEventsRepo.ts"
import { MonitorsRepo } from "../../../src/monitoring/MonitorsRepo.ts"
import { PlaceChecks } from "../../../src/monitoring/places/PlaceChecks.ts"
import { PlacesRepo } from "../../../src/monitoring/places/PlacesRepo.ts"
import { StatusChanges } from "../../../src/monitoring/StatusChanges.ts"
import { StoreClock } from "../../../src/store/StoreClock.ts"
import { ask, type Member, signUp, times, runConcurrently } from "../../support/http.ts"
import { testAppLayer, testNow } from "../../support/TestApp.ts"
import { monitorClientOf } from "../monitors.ts"

type Target = (
  monitor: CheckedMonitor
) => Partial<CheckResult> & Partial<Omit<CheckOutcome, "result">>

/** Creates one node's checks service. `target` determines the responses. */
const nodeWith = (target: Target) =>
  Layer.fresh(Checks.layer).pipe(
    Layer.provide([PlaceChecks.layer, StatusChanges.layer]),
    Layer.provide([
      ChecksRepo.layer,
      IncidentsRepo.layer,
      MaintenanceRepo.layer,
      MonitorEventsRepo.layer,
      MonitorsRepo.layer,
      Outbox.layer,
      PlacesRepo.layer,
      Layer.succeed(Prober, {
        check: (monitor) =>
          Effect.sync(() => {
            const {
              host = new URL(urlOf(monitor)).hostname,
              isUnreached = false,
              ...result
            } = target(monitor)
            return { result: { ...noMeasurements, ...result }, host, isUnreached }
          })
      })
    ]),
    Layer.provide([Ids.layer, Signals.layer, Layer.succeed(StoreClock, () => DateTime.nowAsDate)])
  )

const urlOf = ({ target }: CheckedMonitor) => (target as { readonly url: string }).url

/** Runs all due checks. There are fewer of them than one statement leases. */
const checkAll = Effect.gen(function* () {
  const { finished, startDue } = yield* Checks
  yield* startDue
  yield* finished
})

const sitesOf = (member: Member) =>
  monitorClientOf("http", member, { name: "Site", url: "https://site.test/" })

const unanswered = {
  isUnreached: true,
  error: { code: "connection", message: "Network unreachable." }
} as const

layer(testAppLayer())("the checks of a node", (it) => {
  it.effect("are never done by two nodes simultaneously", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(testNow)
      const member = yield* signUp()
      const sites = sitesOf(member)
      yield* runConcurrently(times(60, () => sites.create()))
      const seen: Array<string> = []
      const node = nodeWith(({ monitor_id }) => {
        seen.push(monitor_id)
        return {}
      })
      yield* runConcurrently([
        checkAll.pipe(Effect.provide(node)),
        checkAll.pipe(Effect.provide(node))
      ])
      assert.lengthOf(seen, 60)
      assert.strictEqual(new Set(seen).size, 60)
      // Within the next minute, each monitor is due once, at its own time.
      yield* TestClock.adjust("1 minute")
      yield* runConcurrently([
        checkAll.pipe(Effect.provide(node)),
        checkAll.pipe(Effect.provide(node))
      ])
      assert.lengthOf(seen, 120)
      const { body } = yield* sites.list("?limit=100")
      const due = new Set(body.data.map((one: { next_check_at: string }) => one.next_check_at))
      assert.isAbove(due.size, 50)
    }).pipe(Effect.scoped)
  )

  it.effect("keep one ordinary result in five minutes, and every failure", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(testNow)
      const member = yield* signUp()
      const sites = sitesOf(member)
      const { body: site } = yield* sites.create()
      let isBad = false
      const node = nodeWith(() =>
        isBad
          ? { duration_ms: 9, error: { code: "http_status", message: "Responded with 500." } }
          : { duration_ms: 100, status_code: 200 }
      )
      yield* Effect.gen(function* () {
        for (let minute = 0; minute < 12; minute++) {
          yield* checkAll
          yield* TestClock.adjust("1 minute")
        }
        isBad = true
        yield* checkAll
        yield* TestClock.adjust("3 seconds")
        yield* checkAll
      }).pipe(Effect.provide(node))
      const { body } = yield* sites.events(site.id)
      const statuses = body.data.map(({ status }: { status: string }) => status)
      assert.deepStrictEqual(statuses, ["down", "up", "up", "up", "up"])
      // The uptime includes all checks, but the latency includes only successful ones.
      const { body: figures } = yield* ask(
        "GET",
        `${member.workspace}/monitors/${site.id}/uptime?period=7d`,
        { token: member.access_token }
      )
      assert.deepInclude(figures, { checks: 14, failed_checks: 2 })
      assert.closeTo(figures.latency_ms.p50, 100, 13)
      assert.strictEqual(figures.latency_ms.p99, figures.latency_ms.p50)
    }).pipe(Effect.scoped)
  )

  it.effect("do not count when the node reaches nothing, which the log says once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM monitors`
      yield* TestClock.setTime(testNow)
      const member = yield* signUp()
      const sites = sitesOf(member)
      const names = times(12, (index) => `site-${index}.example${index}.com`)
      yield* runConcurrently(names.map((name) => sites.create({ url: `https://${name}/` })))
      let isCut = false
      const logs: Array<string> = []
      const capture = Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))])
      const node = nodeWith(() => (isCut ? unanswered : { status_code: 200 }))
      const statuses = Effect.map(sites.list("?limit=100"), ({ body }) =>
        body.data.map(({ status }: { readonly status: string }) => status)
      )
      yield* Effect.gen(function* () {
        yield* checkAll
        isCut = true
        for (let minute = 0; minute < 5; minute++) {
          yield* TestClock.adjust("1 minute")
          yield* checkAll
        }
        assert.deepStrictEqual(
          yield* statuses,
          times(12, () => "up")
        )
        isCut = false
        yield* TestClock.adjust("1 minute")
        yield* checkAll
        assert.deepStrictEqual(
          yield* statuses,
          times(12, () => "up")
        )
        assert.lengthOf(
          logs.filter((line) => line.includes("can no longer reach any target")),
          1
        )
        assert.lengthOf(
          logs.filter((line) => line.includes("can reach targets")),
          1
        )
      }).pipe(Effect.provide(node), Effect.provide(capture))
    }).pipe(Effect.scoped)
  )

  it.effect("count as soon as one target responds, however many others do not", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM monitors`
      yield* TestClock.setTime(testNow)
      const sites = sitesOf(yield* signUp())
      const names = times(12, (index) => `site-${index}.example${index}.com`)
      yield* runConcurrently(names.map((name) => sites.create({ url: `https://${name}/` })))
      let isCut = false
      const node = nodeWith((row) =>
        isCut && !urlOf(row).includes("site-7.") ? unanswered : { status_code: 200 }
      )
      yield* Effect.gen(function* () {
        yield* checkAll
        isCut = true
        for (let minute = 0; minute < 5; minute++) {
          yield* TestClock.adjust("1 minute")
          yield* checkAll
          yield* TestClock.adjust("3 seconds")
          yield* checkAll
        }
      }).pipe(Effect.provide(node))
      const { body } = yield* sites.list("?limit=100&status=down")
      assert.isAtLeast(body.data.length, 6)
    }).pipe(Effect.scoped)
  )

  it.effect("do not count if the node was paused until after the timeout", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM monitors`
      yield* TestClock.setTime(testNow)
      const sites = sitesOf(yield* signUp())
      const { body: site } = yield* sites.create({ timeout_seconds: 5, confirm_after: 1 })
      let duration_ms = 9_000
      const node = nodeWith(() => ({
        duration_ms,
        error: { code: "timeout", message: "Timeout after 5 s." }
      }))
      yield* Effect.gen(function* () {
        yield* checkAll
        assert.strictEqual((yield* sites.get(site.id)).body.status, "new")
        duration_ms = 5_010
        yield* TestClock.adjust("1 minute")
        yield* checkAll
        assert.strictEqual((yield* sites.get(site.id)).body.status, "down")
      }).pipe(Effect.provide(node))
    }).pipe(Effect.scoped)
  )
})
