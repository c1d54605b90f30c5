import { assert, describe, it } from "@effect/vitest"
import { Intake, type IntakeLimits } from "../../../src/engine/intake/Intake.ts"
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

const makeIntake = (slots: number, limits: Partial<IntakeLimits> = {}) =>
  new Intake({ slots, perTarget: slots, ahead: 10_000, ...limits })

const workspacesOf = (taken: ReadonlyArray<LeasedRun>) => {
  const counts: Record<string, number> = {}
  for (const run of taken) counts[run.workspace_id] = (counts[run.workspace_id] ?? 0) + 1
  return counts
}

describe("Intake", () => {
  it("hands runs out when they are due, in order, and each once", () => {
    const intake = makeIntake(100)
    intake.add([...runs("a", 1, 30), ...runs("a", 1, 10), ...runs("a", 1, 20)], 0)
    intake.add(runs("a", 1, 10), 0)
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
    const intake = makeIntake(100)
    intake.add(runs("greedy", 1_000), 0)
    assert.isBelow(intake.take(0, 1_000).length, 80)
    assert.deepStrictEqual(intake.saturated(0), [shareOf("greedy")])
    intake.add(runs("late", 5), 0)
    assert.deepStrictEqual(workspacesOf(intake.take(0, 1_000)), { late: 5 })
  })

  it("divides slots evenly between workspaces that have more runs than fit", () => {
    const intake = makeIntake(90)
    for (const workspace of ["a", "b", "c"]) intake.add(runs(workspace, 500), 0)
    const counts = Object.values(workspacesOf(intake.take(0, 1_000)))
    assert.strictEqual(counts.length, 3)
    assert.isAtMost(Math.max(...counts) - Math.min(...counts), 1)
    assert.isAtMost(intake.running, 85)
  })

  it("alternates between accounts even if slots become free one by one", () => {
    const intake = makeIntake(1)
    intake.add([...runs("a", 3), ...runs("b", 3)], 0)
    const order: Array<string> = []
    for (let turn = 0; turn < 6; turn++) {
      const [run] = intake.take(0, 1)
      assert(run !== undefined)
      order.push(run.workspace_id)
      intake.release(run.id, 0)
      intake.forget(run.id)
    }
    assert.deepStrictEqual(order, ["a", "b", "a", "b", "a", "b"])
  })

  it("releases runs that find no slot, and accepts them again later", () => {
    const intake = makeIntake(10)
    intake.add(runs("a", 20), 0)
    const taken = intake.take(100, 20)
    assert.isEmpty(intake.dropWaiting(100, 100))
    assert.strictEqual(intake.dropWaiting(101, 101).length, 20 - taken.length)
    assert.strictEqual(intake.held, 0)
    assert.deepStrictEqual(intake.saturated(102), [shareOf("a")])
    for (const { id } of taken) intake.release(id, 103)
    assert.isEmpty(intake.saturated(103))
    intake.add(runs("a", 20), 0)
    assert.strictEqual(intake.held, 20 - taken.length)
  })

  it("checks again whether uncertain runs have started", () => {
    const intake = makeIntake(10)
    intake.add(runs("a", 2), 0)
    intake.putBack(
      intake.take(0, 2).map(({ id }) => id),
      0
    )
    assert.strictEqual(intake.running, 0)
    assert.strictEqual(intake.take(0, 2).length, 2)
  })

  it("gives one slot to each run that has already started", () => {
    const intake = makeIntake(10)
    intake.add(runs("a", 1), 0)
    assert.strictEqual(intake.admit(runs("a", 3), 0).length, 2)
    assert.strictEqual(intake.running, 2)
    assert.isEmpty(intake.admit(runs("a", 3), 0))
  })

  it("keeps a retried run until its previous attempt is settled", () => {
    const intake = makeIntake(10)
    const [added, admitted, gone] = runs("a", 3).map((run) => ({ ...run, attempt: 2 }))
    assert.isDefined(added)
    assert.isDefined(admitted)
    assert.isDefined(gone)
    intake.admit(runs("a", 3), 0)
    intake.add([added, gone], 0)
    assert.isEmpty(intake.admit([admitted], 0))
    assert.isEmpty(intake.take(0, 10))
    assert.strictEqual(intake.held, 3)

    for (const { id } of [added, admitted]) {
      intake.release(id, 0)
      assert.isTrue(intake.forget(id))
    }
    intake.giveUp([gone.id], 0)
    assert.deepStrictEqual(
      intake.take(0, 10).map(({ attempt, id }) => ({ attempt, id })),
      [added, admitted, gone].map(({ attempt, id }) => ({ attempt, id }))
    )
    assert.isFalse(intake.forget(added.id))
    assert.strictEqual(intake.held, 0)
  })

  it("releases a retried run together with all runs that have not started", () => {
    const intake = makeIntake(10)
    const [again] = runs("a", 1).map((run) => ({ ...run, attempt: 2 }))
    assert.isDefined(again)
    intake.admit(runs("a", 1), 0)
    intake.add([again], 0)
    assert.deepStrictEqual(intake.dropAll(), [again])
    intake.release(again.id, 0)
    assert.isFalse(intake.forget(again.id))
  })

  it("releases a waiting run together with its later attempt", () => {
    const intake = makeIntake(10, { slots: 0 })
    const [run] = runs("a", 1)
    assert.isDefined(run)
    intake.add([run, { ...run, attempt: 2 }], 0)
    assert.isEmpty(intake.take(0, 1))
    assert.deepStrictEqual(intake.dropWaiting(1, 1), [run])
    assert.strictEqual(intake.held, 0)
  })

  it("grants an account half of the free slots, so that others find capacity", () => {
    const intake = makeIntake(80)
    assert.strictEqual(intake.room, 40)
    for (let round = 0; round < 10; round++) intake.admit(runs("greedy", intake.room, round), 0)
    assert.isAtLeast(intake.room, 5)
    assert.strictEqual(intake.admit(runs("late", 5), 0).length, 5)
    assert.isAtLeast(intake.room, 3)
  })

  it("gives an account's workspaces the slots of one workspace, and alternates between them", () => {
    const intake = makeIntake(100)
    for (const workspace of ["a1", "a2", "a3", "b"]) intake.add(runs(workspace, 500), 0)
    const counts = workspacesOf(intake.take(0, 1_000))
    const [a1 = 0, a2 = 0, a3 = 0] = [counts["a1"], counts["a2"], counts["a3"]]
    assert.isAtMost(Math.abs(a1 + a2 + a3 - (counts["b"] ?? 0)), 1)
    assert.isAtMost(Math.max(a1, a2, a3) - Math.min(a1, a2, a3), 1)
  })

  it("skips runs whose target has no slot, and alternates between accounts for its slots", () => {
    const intake = makeIntake(1_000, { perTarget: 20 })
    intake.add([...runs("a", 100, 0, "https://slow"), ...runs("a", 10, 0, "https://other")], 0)
    const first = intake.take(0, 1_000)
    assert.strictEqual(first.filter(({ target }) => target === "https://other").length, 10)
    assert.strictEqual(first.filter(({ target }) => target === "https://slow").length, 16)
    intake.add(runs("b", 3, 0, "https://slow"), 0)
    assert.deepStrictEqual(workspacesOf(intake.take(0, 1_000)), { b: 3 })
  })

  it("has room for due runs whatever is held ahead", () => {
    const intake = makeIntake(100, { ahead: 1_000 })
    for (let held = 0; intake.mayHold(shareOf("a")); held++)
      intake.add(runs("a", 1, 5_000 + held), 0)
    assert.deepStrictEqual(intake.holdingEnough(), [shareOf("a")])
    assert.isAtLeast(intake.roomAhead, 150)
    assert.isTrue(intake.mayHold(shareOf("b")))
    assert.strictEqual(intake.room, 50)
  })

  it("requests no more runs than the targets of the last runs accept", () => {
    const intake = makeIntake(1_000, { perTarget: 100 })
    assert.strictEqual(intake.likelyRoom(0), Infinity)
    const first = intake.admit(runs("a", 60, 0, "https://one"), 0)
    assert.strictEqual(first.length, 60)
    const likely = intake.likelyRoom(0)
    assert.strictEqual(intake.admit(runs("a", 60, 1, "https://one"), 0).length, likely)
    assert.deepStrictEqual(intake.saturated(0), [shareOf("a")])

    intake.admit(runs("b", 1, 0, "https://two"), 0)
    assert.isAbove(intake.likelyRoom(0), 70)
    assert.deepStrictEqual(intake.saturated(0), [shareOf("a")])

    for (const { id } of first) intake.release(id, 10, true)
    assert.isEmpty(intake.saturated(10))
    assert.isAbove(intake.likelyRoom(10), 200)
  })

  it("requests runs again for an account that called a full target, because the next run can have another target", () => {
    const intake = makeIntake(1_000, { perTarget: 100 })
    intake.admit(runs("a", 80, 0, "https://full"), 0)
    assert.deepStrictEqual(intake.saturated(1_999), [shareOf("a")])
    assert.isEmpty(intake.saturated(2_000))
    assert.strictEqual(intake.likelyRoom(2_000), Infinity)
  })
})
