import { assert, describe, it } from "@effect/vitest"
import { problemOf } from "../../src/status/showStatus.ts"

const at = "2026-07-01T10:00:00.000Z"
const nowMs = Date.parse(at) + 20_000
const well = {
  pid: 4_711,
  at,
  worker: "Office",
  online: true,
  running: 0,
  unsent: 0,
  done: 0,
  problem: null
}
const problem = { since: "2026-07-01T09:00:00.000Z", reason: "connect ECONNREFUSED" }

describe("the standing of an agent", () => {
  it("is well while it is online and writes", () => {
    assert.isUndefined(problemOf(well, nowMs))
  })

  it.each([
    [
      { problem },
      "has not reached the service since 2026-07-01T09:00:00.000Z: connect ECONNREFUSED"
    ],
    [{ online: false }, "is not online yet"],
    [{ at: "2026-07-01T09:59:00.000Z" }, "process 4711 has written nothing since 2026-07-01T09:59"]
  ])("is not well with %j", (more, problem) => {
    assert.include(problemOf({ ...well, ...more }, nowMs), problem)
  })
})
