import { assert, describe, it } from "@effect/vitest"
import { LeasedRuns, type LeasedRunsLimits } from "../../../src/engine/leased-runs/LeasedRuns.ts"
import type { LeasedRun } from "../../../src/engine/Run.ts"

/** Creates runs. The first letter of a workspace's name identifies the workspace's account. */
const runs = (
  workspace_id: string,
  count: number,
  due_ms = 0,
  target: string | null = null
): ReadonlyArray<LeasedRun> =>
  Array.from({ length: count }, (_, index) => ({
    id: `${workspace_id}-${due_ms}-${target}-${index}`,
    workspace_id,
    share: shareOf(workspace_id),
    target,
    attempt: 1,
    due_ms
  }))

const shareOf = (workspace: string) => workspace.charCodeAt(0)

const makeIntake = (slots: number, limits: Partial<LeasedRunsLimits> = {}) =>
  new LeasedRuns({ slots, perTarget: slots, ahead: 10_000, ...limits })

const workspacesOf = (taken: ReadonlyArray<LeasedRun>) => {
  const counts: Record<string, number> = {}
  for (const run of taken) counts[run.workspace_id] = (counts[run.workspace_id] ?? 0) + 1
  return counts
}

describe("LeasedRuns", () => {
  it("hands runs out when they are due, in order, and each once", () => {
    const leasedRuns = makeIntake(100)
    leasedRuns.add([...runs("a", 1, 30), ...runs("a", 1, 10), ...runs("a", 1, 20)], 0)
    leasedRuns.add(runs("a", 1, 10), 0)
    assert.strictEqual(leasedRuns.held, 3)
    assert.isEmpty(leasedRuns.take(9, 10))
    assert.strictEqual(leasedRuns.nextDueMs, 10)
    assert.deepStrictEqual(
      leasedRuns.take(20, 10).map((run) => run.due_ms),
      [10, 20]
    )
    assert.strictEqual(leasedRuns.nextDueMs, 30)
  })

  it("leaves room for others however much one workspace has to do", () => {
    const leasedRuns = makeIntake(100)
    leasedRuns.add(runs("greedy", 1_000), 0)
    assert.isBelow(leasedRuns.take(0, 1_000).length, 80)
    assert.deepStrictEqual(leasedRuns.saturated(0), [shareOf("greedy")])
    leasedRuns.add(runs("late", 5), 0)
    assert.deepStrictEqual(workspacesOf(leasedRuns.take(0, 1_000)), { late: 5 })
  })

  it("divides slots evenly between workspaces that have more runs than fit", () => {
    const leasedRuns = makeIntake(90)
    for (const workspace of ["a", "b", "c"]) leasedRuns.add(runs(workspace, 500), 0)
    const counts = Object.values(workspacesOf(leasedRuns.take(0, 1_000)))
    assert.strictEqual(counts.length, 3)
    assert.isAtMost(Math.max(...counts) - Math.min(...counts), 1)
    assert.isAtMost(leasedRuns.running, 85)
  })

  it("alternates between accounts even if slots become free one by one", () => {
    const leasedRuns = makeIntake(1)
    leasedRuns.add([...runs("a", 3), ...runs("b", 3)], 0)
    const order: Array<string> = []
    for (let turn = 0; turn < 6; turn++) {
      const [run] = leasedRuns.take(0, 1)
      assert(run !== undefined)
      order.push(run.workspace_id)
      leasedRuns.release(run.id, 0)
      leasedRuns.forget(run.id)
    }
    assert.deepStrictEqual(order, ["a", "b", "a", "b", "a", "b"])
  })

  it("releases runs that find no slot, and accepts them again later", () => {
    const leasedRuns = makeIntake(10)
    leasedRuns.add(runs("a", 20), 0)
    const taken = leasedRuns.take(100, 20)
    assert.isEmpty(leasedRuns.dropWaiting(100, 100))
    assert.strictEqual(leasedRuns.dropWaiting(101, 101).length, 20 - taken.length)
    assert.strictEqual(leasedRuns.held, 0)
    assert.deepStrictEqual(leasedRuns.saturated(102), [shareOf("a")])
    for (const { id } of taken) leasedRuns.release(id, 103)
    assert.isEmpty(leasedRuns.saturated(103))
    leasedRuns.add(runs("a", 20), 0)
    assert.strictEqual(leasedRuns.held, 20 - taken.length)
  })

  it("checks again whether uncertain runs have started", () => {
    const leasedRuns = makeIntake(10)
    leasedRuns.add(runs("a", 2), 0)
    leasedRuns.putBack(
      leasedRuns.take(0, 2).map(({ id }) => id),
      0
    )
    assert.strictEqual(leasedRuns.running, 0)
    assert.strictEqual(leasedRuns.take(0, 2).length, 2)
  })

  it("gives one slot to each run that has already started", () => {
    const leasedRuns = makeIntake(10)
    leasedRuns.add(runs("a", 1), 0)
    assert.strictEqual(leasedRuns.admit(runs("a", 3), 0).length, 2)
    assert.strictEqual(leasedRuns.running, 2)
    assert.isEmpty(leasedRuns.admit(runs("a", 3), 0))
  })

  it("keeps a retried run until its previous attempt is settled", () => {
    const leasedRuns = makeIntake(10)
    const [added, admitted, gone] = runs("a", 3).map((run) => ({ ...run, attempt: 2 }))
    assert.isDefined(added)
    assert.isDefined(admitted)
    assert.isDefined(gone)
    leasedRuns.admit(runs("a", 3), 0)
    leasedRuns.add([added, gone], 0)
    assert.isEmpty(leasedRuns.admit([admitted], 0))
    assert.isEmpty(leasedRuns.take(0, 10))
    assert.strictEqual(leasedRuns.held, 3)

    for (const { id } of [added, admitted]) {
      leasedRuns.release(id, 0)
      assert.isTrue(leasedRuns.forget(id))
    }
    leasedRuns.giveUp([gone.id], 0)
    assert.deepStrictEqual(
      leasedRuns.take(0, 10).map(({ attempt, id }) => ({ attempt, id })),
      [added, admitted, gone].map(({ attempt, id }) => ({ attempt, id }))
    )
    assert.isFalse(leasedRuns.forget(added.id))
    assert.strictEqual(leasedRuns.held, 0)
  })

  it("releases a retried run together with all runs that have not started", () => {
    const leasedRuns = makeIntake(10)
    const [again] = runs("a", 1).map((run) => ({ ...run, attempt: 2 }))
    assert.isDefined(again)
    leasedRuns.admit(runs("a", 1), 0)
    leasedRuns.add([again], 0)
    assert.deepStrictEqual(leasedRuns.dropAll(), [again])
    leasedRuns.release(again.id, 0)
    assert.isFalse(leasedRuns.forget(again.id))
  })

  it("releases a waiting run together with its later attempt", () => {
    const leasedRuns = makeIntake(10, { slots: 0 })
    const [run] = runs("a", 1)
    assert.isDefined(run)
    leasedRuns.add([run, { ...run, attempt: 2 }], 0)
    assert.isEmpty(leasedRuns.take(0, 1))
    assert.deepStrictEqual(leasedRuns.dropWaiting(1, 1), [run])
    assert.strictEqual(leasedRuns.held, 0)
  })

  it("grants an account half of the free slots, so that others find capacity", () => {
    const leasedRuns = makeIntake(80)
    assert.strictEqual(leasedRuns.room, 40)
    for (let round = 0; round < 10; round++)
      leasedRuns.admit(runs("greedy", leasedRuns.room, round), 0)
    assert.isAtLeast(leasedRuns.room, 5)
    assert.strictEqual(leasedRuns.admit(runs("late", 5), 0).length, 5)
    assert.isAtLeast(leasedRuns.room, 3)
  })

  it("gives an account's workspaces the slots of one workspace, and alternates between them", () => {
    const leasedRuns = makeIntake(100)
    for (const workspace of ["a1", "a2", "a3", "b"]) leasedRuns.add(runs(workspace, 500), 0)
    const counts = workspacesOf(leasedRuns.take(0, 1_000))
    const [a1 = 0, a2 = 0, a3 = 0] = [counts["a1"], counts["a2"], counts["a3"]]
    assert.isAtMost(Math.abs(a1 + a2 + a3 - (counts["b"] ?? 0)), 1)
    assert.isAtMost(Math.max(a1, a2, a3) - Math.min(a1, a2, a3), 1)
  })

  it("skips runs whose target has no slot, and alternates between accounts for its slots", () => {
    const leasedRuns = makeIntake(1_000, { perTarget: 20 })
    leasedRuns.add([...runs("a", 100, 0, "https://slow"), ...runs("a", 10, 0, "https://other")], 0)
    const first = leasedRuns.take(0, 1_000)
    assert.strictEqual(first.filter(({ target }) => target === "https://other").length, 10)
    assert.strictEqual(first.filter(({ target }) => target === "https://slow").length, 16)
    leasedRuns.add(runs("b", 3, 0, "https://slow"), 0)
    assert.deepStrictEqual(workspacesOf(leasedRuns.take(0, 1_000)), { b: 3 })
  })

  it("has room for due runs whatever is held ahead", () => {
    const leasedRuns = makeIntake(100, { ahead: 1_000 })
    for (let held = 0; leasedRuns.mayHold(shareOf("a")); held++)
      leasedRuns.add(runs("a", 1, 5_000 + held), 0)
    assert.deepStrictEqual(leasedRuns.holdingEnough(), [shareOf("a")])
    assert.isAtLeast(leasedRuns.roomAhead, 150)
    assert.isTrue(leasedRuns.mayHold(shareOf("b")))
    assert.strictEqual(leasedRuns.room, 50)
  })

  it("requests no more runs than the targets of the last runs accept", () => {
    const leasedRuns = makeIntake(1_000, { perTarget: 100 })
    assert.strictEqual(leasedRuns.likelyRoom(0), Infinity)
    const first = leasedRuns.admit(runs("a", 60, 0, "https://one"), 0)
    assert.strictEqual(first.length, 60)
    const likely = leasedRuns.likelyRoom(0)
    assert.strictEqual(leasedRuns.admit(runs("a", 60, 1, "https://one"), 0).length, likely)
    assert.deepStrictEqual(leasedRuns.saturated(0), [shareOf("a")])

    leasedRuns.admit(runs("b", 1, 0, "https://two"), 0)
    assert.isAbove(leasedRuns.likelyRoom(0), 70)
    assert.deepStrictEqual(leasedRuns.saturated(0), [shareOf("a")])

    for (const { id } of first) leasedRuns.release(id, 10, true)
    assert.isEmpty(leasedRuns.saturated(10))
    assert.isAbove(leasedRuns.likelyRoom(10), 200)
  })

  it("requests runs again for an account that called a full target, because the next run can have another target", () => {
    const leasedRuns = makeIntake(1_000, { perTarget: 100 })
    leasedRuns.admit(runs("a", 80, 0, "https://full"), 0)
    assert.deepStrictEqual(leasedRuns.saturated(1_999), [shareOf("a")])
    assert.isEmpty(leasedRuns.saturated(2_000))
    assert.strictEqual(leasedRuns.likelyRoom(2_000), Infinity)
  })
})
