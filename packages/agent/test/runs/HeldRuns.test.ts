import { assert, describe, it } from "@effect/vitest"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { ExecutionId } from "@scheduling/domain/shared/Ids"
import { maxHeldPerSlot, type WorkerCall } from "@scheduling/domain/workers/WorkerProtocol"
import { Schema } from "effect"
import { backoffMs } from "../../src/service/backoff.ts"
import { HeldRuns, toWorkerResult } from "../../src/runs/HeldRuns.ts"

const callOf = (n: number): WorkerCall => ({
  run_id: ExecutionId.make(`019a9f3c-5b1e-7c4a-9d2f-${String(n).padStart(12, "0")}`),
  lease: "7.1",
  attempt: 1,
  deadline: "2026-06-01T12:00:15.000Z",
  method: "GET",
  url: "http://10.0.0.1/",
  headers: {},
  body: null,
  timeout_seconds: 30,
  task: { id: TaskId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"), scheduled_ms: 0 },
  signature: { id: "x", timestamp: 0, signature: "" }
})

const resultFor = ({ lease, run_id }: WorkerCall, response_body = "OK", finishedAtMs = 0) => ({
  run_id,
  lease,
  outcome: "success" as const,
  status_code: 200,
  response_body,
  error: null,
  retry_after_seconds: null,
  duration_ms: 1,
  finishedAtMs
})

/** Holds `count` runs, and starts calls until all slots are taken. */
const holding = (slots: number, count: number) => {
  const runs = new HeldRuns(slots)
  const calls = Array.from({ length: count }, (_, n) => callOf(n))
  runs.take(calls, count, 0)
  return { runs, calls, begun: beginAll(runs) }
}

const beginAll = (runs: HeldRuns) => {
  const begun: Array<WorkerCall> = []
  for (let next = runs.next(); next !== undefined; next = runs.next()) begun.push(next)
  return begun
}

const returned = {
  outcome: "returned" as const,
  status_code: null,
  response_body: null,
  error: null,
  retry_after_seconds: null,
  duration_ms: 0,
  finishedAtMs: 0
}

describe("a held run", () => {
  it("is rejected beyond the number that the agent asked for", () => {
    const runs = new HeldRuns(4)
    const calls = Array.from({ length: 200 }, (_, n) => callOf(n))
    assert.strictEqual(runs.take(calls, 4, 0), 4)
    assert.strictEqual(runs.take(calls.slice(0, 4), 4, 0), 0)
    assert.strictEqual(runs.size, 4)
  })

  it("is held until the service has acknowledged its result", () => {
    const { begun, runs } = holding(2, 2)
    const [one, two] = begun as [WorkerCall, WorkerCall]
    runs.take([one], 1, 0)
    assert.deepStrictEqual([runs.size, runs.running, runs.free], [2, 2, 0])
    runs.finish(resultFor(one, "OK", 100))
    const results = runs.takeResults()
    assert.deepInclude(toWorkerResult(results[0]!, 350), { run_id: one.run_id, ended_ago_ms: 250 })
    assert.deepStrictEqual([runs.running, runs.unsent, runs.size], [1, 1, 2])
    runs.release(results)
    assert.deepStrictEqual([runs.free, runs.unsent, runs.ids], [1, 0, [two.run_id]])
  })

  it("is in one request, and in the next one if that fails", () => {
    const { begun, runs } = holding(3, 3)
    for (const one of begun.slice(0, 2)) runs.finish(resultFor(one))
    const results = runs.takeResults()
    assert.lengthOf(results, 2)
    assert.isEmpty(runs.takeResults())
    runs.finish(resultFor(begun[2]!))
    runs.putBack(results)
    assert.deepStrictEqual(
      runs.takeResults().map(({ run_id }) => run_id),
      begun.map(({ run_id }) => run_id)
    )
  })

  it("takes a slot until its call has finished, unless too many results are kept", () => {
    const { runs } = holding(2, 0)
    for (let n = 0; n < 2 * maxHeldPerSlot; n++) {
      assert.isAtLeast(runs.free, 1)
      runs.take([callOf(n)], 2, 0)
      for (const call of beginAll(runs)) runs.finish(resultFor(call))
    }
    assert.deepStrictEqual([runs.size, runs.running, runs.free, runs.wanted(0)], [8, 0, 0, 0])
    runs.release(runs.takeResults().slice(0, 1))
    assert.deepStrictEqual([runs.free, runs.wanted(0)], [1, 1])
  })

  it("waits for a free slot, in the order of arrival", () => {
    const { begun, calls, runs } = holding(2, 4)
    assert.deepStrictEqual(begun, calls.slice(0, 2))
    assert.deepStrictEqual([runs.running, runs.free, runs.size], [2, 0, 4])
    runs.finish(resultFor(calls[0]!))
    assert.strictEqual(runs.free, 0)
    assert.deepStrictEqual(beginAll(runs), [calls[2]!])
  })

  it("is forgotten with its session, also if its call finishes later", () => {
    const { begun, runs } = holding(2, 3)
    runs.clear()
    runs.finish(resultFor(begun[0]!))
    assert.deepStrictEqual([runs.free, runs.size, runs.unsent], [2, 0, 0])
    assert.isEmpty(runs.takeResults())
    assert.isEmpty(beginAll(runs))
  })

  it("is cut off only while its call is in progress", () => {
    const { begun, runs } = holding(3, 3)
    const cut: Array<number> = []
    begun.forEach((call, n) => runs.begin(call.run_id, () => cut.push(n)))
    const [one, two, three] = begun as [WorkerCall, WorkerCall, WorkerCall]
    runs.cutOff(two.run_id)
    assert.deepStrictEqual(cut, [1])
    runs.finish(resultFor(one))
    runs.cutOff(one.run_id)
    assert.deepStrictEqual([runs.running, runs.unsent], [2, 1])
    runs.finish(resultFor(two))
    for (const cutOff of runs.clear()) cutOff()
    assert.deepStrictEqual(cut, [1, 2])
    runs.cutOff(three.run_id)
    assert.deepStrictEqual(cut, [1, 2])
  })

  it("finishes without a call if it is dismissed while it waits", () => {
    const { calls, runs } = holding(1, 2)
    assert.isFalse(runs.dismiss(calls[0]!.run_id, returned))
    assert.isTrue(runs.dismiss(calls[1]!.run_id, returned))
    assert.deepStrictEqual([runs.running, runs.unsent], [1, 1])
    runs.finish(resultFor(calls[0]!))
    assert.isEmpty(beginAll(runs))
  })

  it("is returned if it waits too long, and can be assigned again before the service has responded", () => {
    const { calls, runs } = holding(1, 2)
    runs.take([callOf(2)], 1, 500)
    runs.returnWaiting(100, returned)
    assert.deepStrictEqual(runs.ids, [calls[0]!.run_id, callOf(2).run_id])
    const results = runs.takeResults()
    assert.deepStrictEqual(
      results.map(({ outcome, run_id }) => [run_id, outcome]),
      [[calls[1]!.run_id, "returned"]]
    )
    assert.deepStrictEqual(runs.withoutReclaimed(results), results)
    runs.take([calls[1]!], 1, 600)
    assert.isEmpty(runs.withoutReclaimed(results))
    runs.release(results)
    assert.deepStrictEqual([runs.size, runs.unsent], [3, 0])
  })

  it("is submitted with others up to the size of one request", () => {
    const { begun, runs } = holding(100, 100)
    const long = "\u0001".repeat(10_000)
    for (const call of begun) runs.finish(resultFor(call, long))
    const first = runs.takeResults()
    assert.isBelow(JSON.stringify(first).length, 1024 * 1024)
    assert.isAtLeast(first.length, 1)
  })
})

describe("the number of runs that are claimed ahead", () => {
  /**
   * Claims at time 0, finishes `ends` calls until `nowMs`, and returns the number of runs to
   * prefetch.
   */
  const wantedAfter = (ends: number, nowMs: number, given = 10) => {
    const { begun, runs } = holding(10, 0)
    assert.isEmpty(begun)
    runs.noteClaim(0)
    const calls = Array.from({ length: given }, (_, n) => callOf(n))
    runs.take(calls, 10, 0)
    for (const call of beginAll(runs).slice(0, ends)) runs.finish(resultFor(call))
    return runs.wanted(nowMs) - runs.free
  }

  it("is the number of runs that have finished since the last claim", () => {
    assert.strictEqual(wantedAfter(0, 20), 0)
    assert.strictEqual(wantedAfter(4, 20), 4)
  })

  it("is limited to the runs that finish in 50 ms", () => {
    assert.strictEqual(wantedAfter(4, 100), 2)
    assert.strictEqual(wantedAfter(4, 10_000), 0)
  })

  it("is 0 if the last claim returned fewer runs than it asked for", () => {
    assert.strictEqual(wantedAfter(4, 20, 9), 0)
  })

  it("is at most twice the number of slots", () => {
    const { runs } = holding(2, 0)
    runs.noteClaim(0)
    for (let n = 0; n < 30; n++) {
      runs.take([callOf(n)], 1, 0)
      for (const call of beginAll(runs)) runs.finish(resultFor(call))
      runs.release(runs.takeResults())
    }
    assert.strictEqual(runs.wanted(20), 6)
  })

  it("is 0 after runs have waited too long", () => {
    const { begun, runs } = holding(4, 5)
    runs.noteClaim(0)
    runs.finish(resultFor(begun[0]!))
    runs.returnWaiting(1_000, returned)
    assert.strictEqual(runs.wanted(20), runs.free)
  })
})

describe("backoffMs", () => {
  const Failures = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))
  const Random = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

  it.prop("is from an eighth of a second to five seconds", [Failures, Random], ([n, random]) => {
    const ms = backoffMs(n, random)
    assert.isAtLeast(ms, 125)
    assert.isAtMost(ms, 5_000)
  })
})
