import type { CheckError } from "@scheduling/domain/monitors/checks/Check"
import { assert, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import {
  decideTargetStatus,
  nextRegularCheckMs,
  type TargetState
} from "../../../src/monitoring/checks/decideTargetStatus.ts"
import { NetworkWatch } from "../../../src/monitoring/checks/NetworkWatch.ts"

const bad: CheckError = { code: "timeout", message: "Too late." }

/** Returns the status after each check: `-` is a failed check, `+` a successful one. */
const statusesOf = (confirm_after: number, recover_after: number, results: string) => {
  let state: TargetState = { status: "new", failures: 0, successes: 0 }
  return [...results]
    .map((result) => {
      const rules = { confirm_after, recover_after, interval_seconds: 60 }
      const decision = decideTargetStatus(rules, state, result === "+" ? null : bad)
      state = decision
      assert.strictEqual(decision.cause !== null, decision.status === "down" && result === "!")
      return `${decision.status}${decision.isToBeConfirmed ? "?" : ""}`
    })
    .join(" ")
}

describe("the status of a checked monitor", () => {
  it.each([
    // `!` is a failure that immediately makes the monitor go down.
    [1, 1, "+!--+", "up down down down up"],
    [2, 1, "+-!-+-+", "up up? down down up up? up"],
    [2, 1, "-!+", "new? down up"],
    [3, 2, "+-+--!+-++", "up up? up up? up? down down? down down? up"],
    [10, 1, "+---------!", "up up? up? up? up? up? up? up? up? up? down"],
    [1, 3, "!++-+++", "down down? down? down down? down? up"]
  ])("after %i failures and %i successes: %s", (confirm, recover, results, expected) => {
    assert.strictEqual(statusesOf(confirm, recover, results), expected)
  })

  it("has regular times that are spread over the interval and never move", () => {
    const ids = Array.from({ length: 600 }, () => randomUUID())
    const now = Date.UTC(2026, 5, 1, 12)
    const seconds = Map.groupBy(ids, (id) => {
      const next = nextRegularCheckMs(id, 60, now)
      assert.isAbove(next, now)
      assert.isAtMost(next, now + 60_000)
      assert.strictEqual(nextRegularCheckMs(id, 60, next), next + 60_000)
      assert.strictEqual(nextRegularCheckMs(id, 60, next - 1), next)
      return Math.floor((next - now) / 1_000)
    })
    for (const [second, all] of seconds) assert.isAtMost(all.length, 30, `in second ${second}`)
  })
})

describe("a node that watches its network", () => {
  it("is cut off when five sites are lost and none responds", () => {
    const network = new NetworkWatch()
    for (const host of ["a.example.com", "b.example.com", "192.0.2.1", "192.0.2.9", "x.org"]) {
      assert.isFalse(network.noteLost(host, 0))
    }
    assert.isFalse(network.noteLost("2001:db8::1", 0))
    assert.isFalse(network.isCutOff)
    assert.isTrue(network.noteLost("example.net.", 0))
    assert.isFalse(network.noteLost("example.edu", 0))
    assert.isTrue(network.isCutOff)
    assert.isTrue(network.noteReached("x.org", 0))
    assert.isFalse(network.isCutOff)
    assert.isFalse(network.noteReached("x.org", 0))
  })

  it("doubts a lost site for five minutes until another responds, if it has reached five", () => {
    const network = new NetworkWatch()
    const isInDoubt = (host: string, nowMs: number, beganMs = nowMs) =>
      network.isInDoubt(host, { beganMs, nowMs })
    for (const site of ["a", "b", "c", "d"]) network.noteReached(`www.${site}.org`, 0)
    network.noteReached("a.org", 0)
    network.noteLost("a.org", 1_000)
    assert.isFalse(isInDoubt("a.org", 1_000))
    network.noteReached("e.org", 1_500)
    network.noteLost("a.org", 2_000)
    network.noteLost("b.org", 200_000)
    network.noteLost("a.org", 201_000)
    assert.isTrue(isInDoubt("a.org", 301_999))
    assert.isTrue(isInDoubt("www.b.org", 499_999))
    assert.isFalse(isInDoubt("c.org", 301_999))
    assert.isFalse(isInDoubt("a.org", 302_000))
    network.noteReached("b.org", 310_000)
    assert.isTrue(isInDoubt("a.org", 311_000, 309_999))
    assert.isFalse(isInDoubt("a.org", 311_000, 310_000))
    assert.isFalse(isInDoubt("b.org", 311_000, 309_999))
  })
})
