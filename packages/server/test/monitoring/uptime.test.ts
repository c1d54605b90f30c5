import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  addLatencyHistograms,
  histogramOfLatency,
  latencyPercentilesOf
} from "../../src/monitoring/uptime/latencies.ts"
import { UptimeRepo } from "../../src/monitoring/uptime/UptimeRepo.ts"
import { ask, statusAndError } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"
import { setUpHeartbeat } from "./monitors.ts"

type Fixture = Effect.Success<ReturnType<typeof setUpHeartbeat>>

const get = ({ id, key, member }: Fixture, path: string) =>
  ask("GET", `${member.workspace}/monitors/${id}/${path}`, { token: key })

/** A monitor's event, and the number of seconds until the next event. */
type Step = readonly [what: "down" | "up" | "pause" | "resume", seconds: number]

/** The number of seconds in a day. */
const day = 86_400

const history: ReadonlyArray<Step> = [
  ["up", 3 * day + 17],
  ["down", 3_725],
  ["up", 40],
  ["down", 61.5],
  ["pause", 2 * day],
  ["resume", 7_300],
  ["up", 5 * day + 0.25],
  ["pause", 90],
  ["resume", 30],
  ["down", 10 * day],
  ["up", 4_000],
  ["pause", 40 * day],
  ["resume", 10],
  ["up", 900],
  ["down", 250]
]

/**
 * Calculates from the raw events how long a monitor was down, and how long it was monitored, within
 * a window.
 */
const byEvents = (
  events: ReadonlyArray<{ readonly atMs: number; readonly status: string }>,
  fromMs: number,
  toMs: number
) => {
  let down = 0
  let watched = 0
  events.forEach(({ atMs, status }, index) => {
    const endMs = Math.min(events[index + 1]?.atMs ?? toMs, toMs)
    const ms = endMs - Math.max(atMs, fromMs)
    if (ms <= 0 || status === "new" || status === "paused") return
    watched += ms
    if (status === "down") down += ms
  })
  return { down, watched }
}

layer(testAppLayer())("the uptime of a monitor", (it) => {
  it.effect("is exact in every period, across outages and pauses", () =>
    Effect.gen(function* () {
      const fixture = yield* setUpHeartbeat({ period_seconds: 365 * day, grace_seconds: 365 * day })
      const events = [{ atMs: testNow, status: "new" }]
      let atMs = testNow
      for (const [what, seconds] of history) {
        const statusOf = { up: "up", down: "down", pause: "paused", resume: "new" }
        if (what === "up") yield* fixture.ping()
        else if (what === "down") yield* fixture.ping("/fail")
        else yield* fixture.heartbeats.act(fixture.id, what)
        events.push({ atMs, status: statusOf[what] })
        atMs += seconds * 1_000
        yield* leap(seconds * 1_000)
      }
      for (const period of ["24h", "7d", "30d", "90d", "365d"]) {
        const { body: total, status } = yield* get(fixture, `uptime?period=${period}`)
        assert.strictEqual(status, 200)
        const fromMs = Date.parse(total.from)
        const expected = byEvents(events, fromMs, atMs)
        assert.strictEqual(total.down_seconds, expected.down / 1_000, period)
        assert.strictEqual(total.watched_seconds, expected.watched / 1_000, period)
        assert.closeTo(total.uptime, 1 - expected.down / expected.watched, 1e-9, period)
        const { body: series } = yield* get(fixture, `series?period=${period}`)
        const widthMs = series.bucket_seconds * 1_000
        assert.strictEqual(Date.parse(series.buckets[0].start), fromMs)
        for (const { down_seconds, start, watched_seconds } of series.buckets) {
          const startMs = Date.parse(start)
          const part = byEvents(events, startMs, Math.min(startMs + widthMs, atMs))
          assert.deepStrictEqual(
            [start, down_seconds, watched_seconds],
            [start, part.down / 1_000, part.watched / 1_000]
          )
        }
      }
    })
  )

  it.effect("is null until the monitor is watched, and counts an outage that lasts", () =>
    Effect.gen(function* () {
      const fixture = yield* setUpHeartbeat()
      yield* TestClock.adjust("10 minutes")
      const { body: before } = yield* get(fixture, "uptime")
      assert.deepInclude(before, {
        period: "24h",
        uptime: null,
        down_seconds: 0,
        watched_seconds: 0,
        checks: 0,
        latency_ms: null
      })
      yield* fixture.ping("/fail")
      yield* TestClock.adjust("7 minutes")
      const { body: during } = yield* get(fixture, "uptime")
      assert.deepInclude(during, { uptime: 0, down_seconds: 420, watched_seconds: 420 })
      const stranger = yield* setUpHeartbeat()
      const foreign = yield* get({ ...fixture, key: stranger.key }, "uptime")
      assert.strictEqual(statusAndError(foreign), "403 workspace_forbidden")
      const unknown = yield* get({ ...fixture, id: stranger.id }, "series")
      assert.strictEqual(statusAndError(unknown), "404 not_found")
      assert.strictEqual((yield* get(fixture, "uptime?period=1h")).status, 422)
    })
  )

  it.effect("keeps roll-ups for their time, whatever the retention of events is", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const fixture = yield* setUpHeartbeat({ period_seconds: 365 * day, grace_seconds: 365 * day })
      yield* fixture.ping("/fail")
      yield* TestClock.adjust("10 minutes")
      yield* fixture.ping()
      const kept = Effect.map(
        sql<{ readonly seconds: number }>`
          SELECT DISTINCT seconds
          FROM uptime_buckets
          WHERE monitor_id = ${fixture.id}
          ORDER BY seconds`,
        (rows) => rows.map(({ seconds }) => seconds)
      )
      const removeAfter = (days: number) =>
        Effect.flatMap(UptimeRepo, (repo) =>
          repo.removeOld(new Date(testNow + days * 86_400_000))
        ).pipe(Effect.provide(UptimeRepo.layer))
      assert.deepStrictEqual(yield* kept, [300, 3_600, 86_400])
      yield* removeAfter(7)
      assert.deepStrictEqual(yield* kept, [300, 3_600, 86_400])
      yield* removeAfter(9)
      assert.deepStrictEqual(yield* kept, [3_600, 86_400])
      yield* removeAfter(93)
      assert.deepStrictEqual(yield* kept, [86_400])
      yield* removeAfter(401)
      assert.deepStrictEqual(yield* kept, [])
    })
  )
})

describe("a histogram of latencies", () => {
  plain("gives percentiles within an eighth, also when two are added", () => {
    const latencies = Array.from({ length: 2_000 }, (_, index) => 5 + ((index * 7_919) % 997))
    const sumOf = (some: ReadonlyArray<number>) =>
      some.map(histogramOfLatency).reduce((a, b) => addLatencyHistograms(a, b) ?? b)
    const [first, second] = [latencies.slice(0, 700), latencies.slice(700)].map(sumOf)
    const all = latencyPercentilesOf(addLatencyHistograms(first ?? null, second ?? null))
    assert.deepStrictEqual(all, latencyPercentilesOf(sumOf(latencies)))
    const sorted = latencies.toSorted((a, b) => a - b)
    for (const [name, share] of [
      ["p50", 0.5],
      ["p95", 0.95],
      ["p99", 0.99]
    ] as const) {
      const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0
      assert.isAtMost(Math.abs((all?.[name] ?? 0) - exact) / exact, 0.13, name)
    }
    assert.deepStrictEqual(latencyPercentilesOf(histogramOfLatency(0)), { p50: 1, p95: 1, p99: 1 })
  })
})
