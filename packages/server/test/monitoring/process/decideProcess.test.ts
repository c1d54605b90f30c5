import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  brokenRule,
  canChangeStatus,
  decideProcess,
  evaluateProcessReport,
  type OngoingFailure,
  type ProcessRules,
  type ProcessState,
  type ProcessReportSummary,
  silentAfterMs
} from "../../../src/monitoring/process/decideProcess.ts"

const rules: ProcessRules = {
  worker_id: "one",
  judge: "each",
  min_count: 1,
  max_count: 3,
  max_rss_bytes: 1_000,
  max_cpu_percent: 80,
  interval_seconds: 30,
  grace_seconds: 60
}
const manyWorkers: ProcessRules = { ...rules, worker_id: null }
const together: ProcessRules = { ...manyWorkers, judge: "together" }

const fine = { count: 1, rss_bytes: 500, cpu_percent: 10, pids: [7] }
const fresh: ProcessState = { status: "new", sinceMs: 0, failing: null }
const up: ProcessState = { ...fresh, status: "up" }
const down: ProcessState = { ...fresh, status: "down" }

const none = (sinceMs: number): OngoingFailure => ({
  sinceMs,
  cause: { code: "too_few", message: "0" }
})
const reportedAt = (atMs: number, failing: OngoingFailure | null = null): ProcessReportSummary => ({
  atMs,
  total: { ...fine, count: failing === null ? 1 : 0 },
  failing
})
const noReports: ProcessReportSummary = { atMs: null, total: null, failing: null }

describe("a report", () => {
  it.each([
    [{ count: 0 }, "too_few"],
    [{ count: 4 }, "too_many"],
    [{ rss_bytes: 1_001 }, "too_much_memory"],
    [{ cpu_percent: 80.1 }, "too_much_cpu"],
    [{ cpu_percent: null }, undefined],
    [{ refused: "not_allowed" }, "not_allowed"],
    [{ refused: "not_allowed", count: 0 }, "not_allowed"],
    [{}, undefined]
  ] as const)("with %j breaks %s", (change, code) => {
    assert.strictEqual(brokenRule(rules, { ...fine, ...change })?.code, code)
  })

  it("keeps the time of the first report that broke a rule", () => {
    const first = evaluateProcessReport(rules, null, { ...fine, count: 0 }, 5_000)
    const second = evaluateProcessReport(rules, first, { ...fine, count: 9 }, 35_000)
    assert.deepStrictEqual([second?.sinceMs, second?.cause.code], [5_000, "too_many"])
    assert.isNull(evaluateProcessReport(rules, second, fine, 65_000))
  })
})

describe("a monitor of one worker", () => {
  it("is up as soon as all rules hold, and is due when the next report is missing", () => {
    for (const before of [fresh, up, down]) {
      const decision = decideProcess(rules, before, reportedAt(1_000), 1_000)
      assert.deepStrictEqual(decision, { state: up, checkAtMs: 106_000, cause: null })
    }
  })

  it("goes down once, when a rule has been broken for the whole grace", () => {
    const first = decideProcess(rules, up, reportedAt(0, none(0)), 0)
    assert.deepStrictEqual([first.state.status, first.checkAtMs], ["up", 60_000])
    const second = decideProcess(rules, first.state, reportedAt(60_000, none(0)), 60_000)
    assert.deepStrictEqual([second.state.status, second.cause?.code], ["down", "too_few"])
    const third = decideProcess(rules, second.state, reportedAt(90_000, none(0)), 90_000)
    assert.deepStrictEqual(
      [third.state.status, third.cause, third.checkAtMs],
      ["down", null, 195_000]
    )
  })

  it("goes down because the worker is silent, unless a broken rule comes first", () => {
    const silent = decideProcess(rules, up, reportedAt(0), 105_000)
    assert.deepStrictEqual([silent.cause?.code, silent.checkAtMs], ["worker_offline", null])
    assert.strictEqual(
      decideProcess(rules, fresh, noReports, 105_000).cause?.code,
      "worker_offline"
    )
    assert.strictEqual(decideProcess(rules, fresh, noReports, 104_999).state.status, "new")
    assert.strictEqual(
      decideProcess(rules, up, reportedAt(0, none(0)), 60_000).cause?.code,
      "too_few"
    )
    assert.isNull(decideProcess(rules, down, reportedAt(0), 105_000).cause)
  })

  it("ignores silence while the service was away", () => {
    const decide = (summary: ProcessReportSummary, nowMs: number) =>
      decideProcess(rules, up, summary, nowMs, 300_000)
    for (const summary of [reportedAt(0), reportedAt(0, none(0))]) {
      for (const nowMs of [300_000, 339_999]) {
        const { checkAtMs, state } = decide(summary, nowMs)
        assert.deepStrictEqual([state.status, checkAtMs], ["up", 340_000])
      }
      assert.strictEqual(decide(summary, 340_000).state.status, "down")
    }
    assert.deepStrictEqual(decide(reportedAt(310_000), 310_000).checkAtMs, 415_000)
  })
})

describe("a monitor of all workers with its labels", () => {
  it("goes down if one worker breaks a rule, and is polled for workers that leave", () => {
    const decision = decideProcess(manyWorkers, up, reportedAt(60_000, none(0)), 60_000)
    assert.deepStrictEqual([decision.state.status, decision.checkAtMs], ["down", 90_000])
    assert.strictEqual(
      decideProcess(manyWorkers, decision.state, reportedAt(90_000), 90_000).state.status,
      "up"
    )
  })

  it("keeps its status while no worker counts, until all are silent for too long", () => {
    const gone: ProcessReportSummary = { ...noReports, atMs: 0 }
    for (const before of [fresh, up, down]) {
      const decision = decideProcess(manyWorkers, before, gone, 50_000)
      assert.strictEqual(decision.state.status, before.status)
      assert.isNull(decision.cause)
    }
    assert.strictEqual(decideProcess(manyWorkers, up, gone, 105_000).cause?.code, "worker_offline")
  })

  it("applies its rules to the sum of all workers with judge: together", () => {
    const leader: ProcessReportSummary = { ...reportedAt(0, none(0)), total: fine }
    const well = decideProcess(together, up, leader, 90_000)
    assert.deepStrictEqual([well.state, well.checkAtMs], [up, 105_000])
    const lost: ProcessReportSummary = { ...leader, total: { ...fine, count: 0 } }
    const failing = decideProcess(together, up, lost, 10_000)
    assert.deepStrictEqual([failing.state.status, failing.checkAtMs], ["up", 40_000])
    assert.strictEqual(failing.state.failing?.sinceMs, 10_000)
    const late = decideProcess(together, failing.state, lost, 70_000)
    assert.deepStrictEqual([late.state.status, late.cause?.code], ["down", "too_few"])
    assert.deepStrictEqual(decideProcess(together, late.state, leader, 71_000).state, up)
  })
})

describe("a report can change the status", () => {
  const monitorState = (status: string, checkAtMs: number | null = 105_000) => ({
    status,
    checkAtMs
  })
  const known = { failing: null, isNew: false }

  it.each([
    ["if the monitor is new", rules, monitorState("new"), known, true],
    ["if no check is planned", rules, monitorState("down", null), known, true],
    ["not while all rules hold", rules, monitorState("up"), known, false],
    [
      "if it breaks a rule first",
      rules,
      monitorState("up"),
      { failing: none(0), isNew: true },
      true
    ],
    [
      "not before the grace is over",
      rules,
      monitorState("up", 60_000),
      { failing: none(0), isNew: false },
      false
    ],
    ["if a single worker recovers", rules, monitorState("down"), known, true],
    ["not if another worker breaks a rule", manyWorkers, monitorState("down"), known, false],
    [
      "if one of many workers recovers",
      manyWorkers,
      monitorState("down"),
      { failing: null, isNew: true },
      true
    ]
  ] as const)("%s", (_, of, now, report, expected) => {
    assert.strictEqual(canChangeStatus(of, now, report, 10_000), expected)
  })
})

describe("for any reports", () => {
  const Counts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })))

  it.prop(
    "a monitor goes down only after the grace, and up with the first good report",
    [Counts],
    ([counts]) => {
      let state = fresh
      let failing: OngoingFailure | null = null
      counts.forEach((count, index) => {
        const nowMs = index * 30_000
        failing = evaluateProcessReport(rules, failing, { ...fine, count }, nowMs)
        const {
          cause,
          checkAtMs,
          state: next
        } = decideProcess(rules, state, reportedAt(nowMs, failing), nowMs)
        const mustBeDown = failing !== null && nowMs - failing.sinceMs >= 60_000
        assert.strictEqual(next.status === "down", mustBeDown)
        assert.strictEqual(cause !== null, mustBeDown && state.status !== "down")
        assert.isAbove(checkAtMs ?? 0, nowMs)
        assert.isAtMost(checkAtMs ?? Infinity, nowMs + silentAfterMs(rules))
        if (failing === null) assert.deepStrictEqual(next, up)
        state = next
      })
    }
  )
})
