import { assert, describe, it } from "@effect/vitest"
import { Intake } from "../../src/runner/Intake.ts"
import type { LeasedRun } from "../../src/runner/Run.ts"

const runs = (workspace_id: string, count: number, due_ms = 0): ReadonlyArray<LeasedRun> =>
  Array.from({ length: count }, (_, index) => ({
    id: `${workspace_id}-${due_ms}-${index}`,
    workspace_id,
    attempt: 1,
    due_ms
  }))

const workspacesOf = (taken: ReadonlyArray<LeasedRun>) => {
  const counts: Record<string, number> = {}
  for (const run of taken) counts[run.workspace_id] = (counts[run.workspace_id] ?? 0) + 1
  return counts
}

describe("Intake", () => {
  it("hands runs out when they are due, in order, and each once", () => {
    const intake = new Intake(100)
    intake.add([...runs("a", 1, 30), ...runs("a", 1, 10), ...runs("a", 1, 20)])
    intake.add(runs("a", 1, 10))
    assert.strictEqual(intake.held, 3)
    assert.isEmpty(intake.take(9, 10))
    assert.strictEqual(intake.nextDueMs, 10)
    assert.deepStrictEqual(
      intake.take(20, 10).map((run) => run.due_ms),
      [10, 20]
    )
    assert.strictEqual(intake.nextDueMs, 30)
  })

  it("leaves room for others however much one workspace has to do", () => {
    const intake = new Intake(100)
    intake.add(runs("greedy", 1_000))
    assert.strictEqual(intake.take(0, 1_000).length, 80)
    assert.deepStrictEqual(intake.saturated(), ["greedy"])
    intake.add(runs("late", 5))
    assert.deepStrictEqual(workspacesOf(intake.take(0, 1_000)), { late: 5 })
  })

  it("shares evenly between workspaces that have more than fits", () => {
    const intake = new Intake(90)
    for (const workspace of ["a", "b", "c"]) intake.add(runs(workspace, 500))
    const counts = Object.values(workspacesOf(intake.take(0, 1_000)))
    assert.strictEqual(counts.length, 3)
    assert.isAtMost(Math.max(...counts) - Math.min(...counts), 1)
    assert.isAtMost(intake.running, 85)
  })

  it("takes turns also where slots get free one by one", () => {
    const intake = new Intake(1)
    intake.add([...runs("a", 3), ...runs("b", 3)])
    const order: Array<string> = []
    for (let turn = 0; turn < 6; turn++) {
      const [run] = intake.take(0, 1)
      assert(run !== undefined)
      order.push(run.workspace_id)
      intake.release(run)
      intake.forget(run.id)
    }
    assert.deepStrictEqual(order, ["a", "b", "a", "b", "a", "b"])
  })

  it("gives up what finds no slot, and takes it on again later", () => {
    const intake = new Intake(10)
    intake.add(runs("a", 20))
    const taken = intake.take(100, 20)
    assert.strictEqual(taken.length, 8)
    assert.isEmpty(intake.dropWaiting(100))
    assert.strictEqual(intake.dropWaiting(101).length, 12)
    assert.strictEqual(intake.held, 0)
    assert.strictEqual(intake.free, 2)
    intake.add(runs("a", 20))
    assert.strictEqual(intake.held, 12)
  })

  it("asks again about runs whose start was not certain", () => {
    const intake = new Intake(10)
    intake.add(runs("a", 2))
    intake.putBack(intake.take(0, 2))
    assert.strictEqual(intake.running, 0)
    assert.strictEqual(intake.take(0, 2).length, 2)
  })

  it("gives slots to runs that are started already, each once", () => {
    const intake = new Intake(10)
    intake.add(runs("a", 1))
    assert.strictEqual(intake.admit(runs("a", 3)).length, 2)
    assert.strictEqual(intake.running, 2)
    assert.isEmpty(intake.admit(runs("a", 3)))
  })

  it("has room for half of what is free, and so for others when one workspace has its share", () => {
    const intake = new Intake(80)
    assert.strictEqual(intake.room, 40)
    for (let round = 0; intake.saturated().length === 0; round++) {
      intake.admit(runs("greedy", intake.room, round))
    }
    assert.strictEqual(intake.running, 70)
    assert.strictEqual(intake.room, 5)
    intake.admit(runs("late", 5))
    assert.strictEqual(intake.room, 3)
    assert.deepStrictEqual(intake.saturated(), ["greedy"])
  })
})
