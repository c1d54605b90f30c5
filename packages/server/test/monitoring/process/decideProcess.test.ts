import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  brokenRule,
  decideProcess,
  type Failing,
  isDecisionDue,
  judgeReport,
  type ProcessRules,
  type ProcessState,
  type ReportSummary,
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
const ofMany: ProcessRules = { ...rules, worker_id: null }
const together: ProcessRules = { ...ofMany, judge: "together" }

const fine = { count: 1, rss_bytes: 500, cpu_percent: 10, pids: [7] }
const beginning: ProcessState = { status: "new", sinceMs: 0, failing: null }
const up: ProcessState = { ...beginning, status: "up" }
const down: ProcessState = { ...beginning, status: "down" }

const none = (sinceMs: number): Failing => ({ sinceMs, cause: { code: "too_few", message: "0" } })
const heardAt = (atMs: number, failing: Failing | null = null): ReportSummary => ({
  atMs,
  together: { ...fine, count: failing === null ? 1 : 0 },
  failing
})
const unheard: ReportSummary = { atMs: null, together: null, failing: null }

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

  it("counts from the first one that broke a rule", () => {
    const first = judgeReport(rules, null, { ...fine, count: 0 }, 5_000)
    const second = judgeReport(rules, first, { ...fine, count: 9 }, 35_000)
    assert.deepStrictEqual([second?.sinceMs, second?.cause.code], [5_000, "too_many"])
    assert.isNull(judgeReport(rules, second, fine, 65_000))
  })
})

describe("a monitor of one worker", () => {
  it("is up as soon as all rules hold, and waits for the next report", () => {
    for (const before of [beginning, up, down]) {
      const decision = decideProcess(rules, before, heardAt(1_000), 1_000)
      assert.deepStrictEqual(decision, { state: up, checkAtMs: 106_000, cause: null })
    }
  })

  it("goes down once, when a rule was broken for as long as the grace", () => {
    const first = decideProcess(rules, up, heardAt(0, none(0)), 0)
    assert.deepStrictEqual([first.state.status, first.checkAtMs], ["up", 60_000])
    const second = decideProcess(rules, first.state, heardAt(60_000, none(0)), 60_000)
    assert.deepStrictEqual([second.state.status, second.cause?.code], ["down", "too_few"])
    const third = decideProcess(rules, second.state, heardAt(90_000, none(0)), 90_000)
    assert.deepStrictEqual(
      [third.state.status, third.cause, third.checkAtMs],
      ["down", null, 195_000]
    )
  })

  it("goes down because of its silence, unless a rule was broken for long enough", () => {
    const silent = decideProcess(rules, up, heardAt(0), 105_000)
    assert.deepStrictEqual([silent.cause?.code, silent.checkAtMs], ["worker_offline", null])
    assert.strictEqual(
      decideProcess(rules, beginning, unheard, 105_000).cause?.code,
      "worker_offline"
    )
    assert.strictEqual(decideProcess(rules, beginning, unheard, 104_999).state.status, "new")
    assert.strictEqual(decideProcess(rules, up, heardAt(0, none(0)), 60_000).cause?.code, "too_few")
    assert.isNull(decideProcess(rules, down, heardAt(0), 105_000).cause)
  })

  it("concludes nothing from the time that the service was away", () => {
    const judge = (reported: ReportSummary, nowMs: number) =>
      decideProcess(rules, up, reported, nowMs, 300_000)
    for (const reported of [heardAt(0), heardAt(0, none(0))]) {
      for (const nowMs of [300_000, 339_999]) {
        const { checkAtMs, state } = judge(reported, nowMs)
        assert.deepStrictEqual([state.status, checkAtMs], ["up", 340_000])
      }
      assert.strictEqual(judge(reported, 340_000).state.status, "down")
    }
    assert.deepStrictEqual(judge(heardAt(310_000), 310_000).checkAtMs, 415_000)
  })
})

describe("a monitor of all workers with its labels", () => {
  it("goes down for the one that breaks a rule for longest, and looks again for those that leave", () => {
    const decision = decideProcess(ofMany, up, heardAt(60_000, none(0)), 60_000)
    assert.deepStrictEqual([decision.state.status, decision.checkAtMs], ["down", 90_000])
    assert.strictEqual(
      decideProcess(ofMany, decision.state, heardAt(90_000), 90_000).state.status,
      "up"
    )
  })

  it("keeps its status while none of them counts, until they are silent for too long", () => {
    const gone: ReportSummary = { ...unheard, atMs: 0 }
    for (const before of [beginning, up, down]) {
      const decision = decideProcess(ofMany, before, gone, 50_000)
      assert.strictEqual(decision.state.status, before.status)
      assert.isNull(decision.cause)
    }
    assert.strictEqual(decideProcess(ofMany, up, gone, 105_000).cause?.code, "worker_offline")
  })

  it("judges their processes together if it is told to", () => {
    const leader: ReportSummary = { ...heardAt(0, none(0)), together: fine }
    const well = decideProcess(together, up, leader, 90_000)
    assert.deepStrictEqual([well.state, well.checkAtMs], [up, 105_000])
    const lost: ReportSummary = { ...leader, together: { ...fine, count: 0 } }
    const failing = decideProcess(together, up, lost, 10_000)
    assert.deepStrictEqual([failing.state.status, failing.checkAtMs], ["up", 40_000])
    assert.strictEqual(failing.state.failing?.sinceMs, 10_000)
    const late = decideProcess(together, failing.state, lost, 70_000)
    assert.deepStrictEqual([late.state.status, late.cause?.code], ["down", "too_few"])
    assert.deepStrictEqual(decideProcess(together, late.state, leader, 71_000).state, up)
  })
})

describe("a report asks for a judgement", () => {
  const state = (status: string, checkAtMs: number | null = 105_000) => ({ status, checkAtMs })
  const known = { failing: null, isNew: false }

  it.each([
    ["when nothing is known yet", rules, state("new"), known, true],
    ["when nobody looks any more", rules, state("down", null), known, true],
    ["not while all is well", rules, state("up"), known, false],
    ["when a rule breaks", rules, state("up"), { failing: none(0), isNew: true }, true],
    [
      "not before the grace is over",
      rules,
      state("up", 60_000),
      { failing: none(0), isNew: false },
      false
    ],
    ["when it is well again", rules, state("down"), known, true],
    ["not when another worker has a problem", ofMany, state("down"), known, false],
    ["when its worker is well again", ofMany, state("down"), { failing: null, isNew: true }, true]
  ] as const)("%s", (_, of, now, report, expected) => {
    assert.strictEqual(isDecisionDue(of, now, report, 10_000), expected)
  })
})

describe("any reports", () => {
  const Counts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })))

  it.prop(
    "go down only after the grace, and up with the first that is fine",
    [Counts],
    ([counts]) => {
      let state = beginning
      let failing: Failing | null = null
      counts.forEach((count, index) => {
        const nowMs = index * 30_000
        failing = judgeReport(rules, failing, { ...fine, count }, nowMs)
        const {
          cause,
          checkAtMs,
          state: next
        } = decideProcess(rules, state, heardAt(nowMs, failing), nowMs)
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
