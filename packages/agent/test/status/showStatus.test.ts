import { assert, describe, it } from "@effect/vitest"
import { findStatusProblem } from "../../src/status/showStatus.ts"

const at = "2026-07-01T10:00:00.000Z"
const nowMs = Date.parse(at) + 20_000
const healthy = {
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

describe("findStatusProblem", () => {
  it("finds none while the agent is online and writes its status", () => {
    assert.isUndefined(findStatusProblem(healthy, nowMs))
  })

  it.each([
    [
      { problem },
      "has not reached the service since 2026-07-01T09:00:00.000Z: connect ECONNREFUSED"
    ],
    [{ online: false }, "is not online yet"],
    [
      { at: "2026-07-01T09:59:00.000Z" },
      "process 4711 has written no status since 2026-07-01T09:59"
    ]
  ])("finds a problem with %j", (more, problem) => {
    assert.include(findStatusProblem({ ...healthy, ...more }, nowMs), problem)
  })
})
