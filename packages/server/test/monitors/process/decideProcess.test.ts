import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  brokenRule,
  decideReport,
  decideSilence,
  type ProcessState
} from "../../../src/monitors/process/decideProcess.ts"

const rules = {
  min_count: 1,
  max_count: 3,
  max_rss_bytes: 1_000,
  max_cpu_percent: 80,
  interval_seconds: 30,
  grace_seconds: 60
}
const fine = { count: 1, rss_bytes: 500, cpu_percent: 10, pids: [7] }
const beginning: ProcessState = { status: "new", failing: null }
const up: ProcessState = { status: "up", failing: null }

describe("a report", () => {
  it.each([
    [{ count: 0 }, "too_few"],
    [{ count: 4 }, "too_many"],
    [{ rss_bytes: 1_001 }, "too_much_memory"],
    [{ cpu_percent: 80.1 }, "too_much_cpu"],
    [{ cpu_percent: null }, undefined],
    [{}, undefined]
  ])("with %j breaks %s", (change, code) => {
    assert.strictEqual(brokenRule(rules, { ...fine, ...change })?.code, code)
  })

  it("in which all rules hold makes a monitor up, and waits for the next one", () => {
    for (const before of [beginning, up, { ...up, status: "down" } as const]) {
      const { cause, checkAtMs, state } = decideReport(rules, before, fine, 1_000)
      assert.deepStrictEqual(state, up)
      assert.isNull(cause)
      assert.strictEqual(checkAtMs, 106_000)
    }
  })

  it("breaks a rule for as long as the grace before the monitor goes down, once", () => {
    const none = { ...fine, count: 0 }
    const first = decideReport(rules, up, none, 0)
    assert.deepStrictEqual([first.state.status, first.checkAtMs], ["up", 60_000])
    const second = decideReport(rules, first.state, none, 30_000)
    assert.strictEqual(second.state.status, "up")
    const third = decideReport(rules, second.state, { ...none, count: 9 }, 60_000)
    assert.deepStrictEqual([third.state.status, third.cause?.code], ["down", "too_many"])
    const fourth = decideReport(rules, third.state, none, 90_000)
    assert.deepStrictEqual([fourth.state.status, fourth.cause], ["down", null])
  })
})

describe("silence", () => {
  it("makes a monitor go down because of the worker, unless a rule was broken for long enough", () => {
    assert.strictEqual(decideSilence(rules, up, 99_000).cause?.code, "worker_offline")
    const cause = { code: "too_few", message: "none" } as const
    const broken: ProcessState = { status: "up", failing: { sinceMs: 0, cause } }
    assert.strictEqual(decideSilence(rules, broken, 60_000).cause?.code, "too_few")
    assert.isNull(decideSilence(rules, { ...up, status: "down" }, 99_000).cause)
  })
})

describe("any reports", () => {
  const Counts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })))

  it.prop(
    "go down only after the grace, and up with the first that is fine",
    [Counts],
    ([counts]) => {
      let state = beginning
      let brokenSince: number | undefined
      counts.forEach((count, index) => {
        const nowMs = index * 30_000
        const report = { ...fine, count }
        const isBroken = brokenRule(rules, report) !== null
        brokenSince = isBroken ? (brokenSince ?? nowMs) : undefined
        const decision = decideReport(rules, state, report, nowMs)
        const mustBeDown = brokenSince !== undefined && nowMs - brokenSince >= 60_000
        assert.strictEqual(decision.state.status === "down", mustBeDown)
        assert.strictEqual(decision.cause !== null, mustBeDown && state.status !== "down")
        assert.isAbove(decision.checkAtMs, nowMs)
        if (!isBroken) assert.deepStrictEqual(decision.state, up)
        state = decision.state
      })
    }
  )
})
