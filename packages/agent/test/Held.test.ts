import { assert, describe, it } from "@effect/vitest"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { ExecutionId } from "@scheduling/domain/shared/Ids"
import type { WorkerCall } from "@scheduling/domain/workers/WorkerProtocol"
import { Schema } from "effect"
import { backoffMs } from "../src/backoff.ts"
import { Held } from "../src/Held.ts"

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

const endingOf = ({ lease, run_id }: WorkerCall, response_body = "OK", endedAtMs = 0) => ({
  run_id,
  lease,
  outcome: "success" as const,
  status_code: 200,
  response_body,
  error: null,
  retry_after_seconds: null,
  duration_ms: 1,
  endedAtMs
})

describe("what the agent holds", () => {
  it("stays until the service has acknowledged the result", () => {
    const held = new Held(2)
    const [one, two] = [callOf(1), callOf(2)]
    assert.isTrue(held.take(one))
    assert.isFalse(held.take(one))
    assert.isTrue(held.take(two))
    assert.strictEqual(held.free, 0)
    held.end(endingOf(one, "OK", 100))
    const [result] = held.next(350)
    assert.deepInclude(result, { run_id: one.run_id, ended_ago_ms: 250 })
    assert.lengthOf(held.next(350), 1)
    held.release([one.run_id])
    assert.deepStrictEqual([held.free, held.unsent, held.ids], [1, 0, [two.run_id]])
  })

  it("takes a slot until its call has ended, if not too many results are kept", () => {
    const held = new Held(2)
    const calls = [1, 2, 3, 4].map(callOf)
    const [one, two, three, four] = calls as [WorkerCall, WorkerCall, WorkerCall, WorkerCall]
    held.take(one)
    held.take(two)
    held.end(endingOf(one))
    assert.strictEqual(held.free, 1)
    held.take(three)
    assert.strictEqual(held.free, 0)
    held.end(endingOf(two))
    held.take(four)
    for (const ended of [three, four]) held.end(endingOf(ended))
    assert.deepStrictEqual([held.size, held.free], [4, 0])
    held.release([one.run_id])
    assert.strictEqual(held.free, 1)
  })

  it("forgets everything with its session, and what ends after that", () => {
    const held = new Held(2)
    const call = callOf(1)
    held.take(call)
    held.clear()
    held.end(endingOf(call))
    assert.deepStrictEqual([held.free, held.unsent, held.next(0)], [2, 0, []])
  })

  it("is cut off while its call is under way, and not after", () => {
    const held = new Held(3)
    const cut: Array<number> = []
    const calls = [1, 2, 3].map(callOf)
    calls.forEach((call, n) => {
      held.take(call)
      held.begin(call.run_id, () => cut.push(n))
    })
    const [one, two, three] = calls as [WorkerCall, WorkerCall, WorkerCall]
    held.cutOff(two.run_id)
    assert.deepStrictEqual(cut, [1])
    held.end(endingOf(one))
    held.cutOff(one.run_id)
    assert.deepStrictEqual([held.running, held.unsent], [2, 1])
    held.end(endingOf(two))
    for (const cutOff of held.clear()) cutOff()
    assert.deepStrictEqual(cut, [1, 2])
    held.cutOff(three.run_id)
    assert.deepStrictEqual(cut, [1, 2])
  })

  it("hands in as much as one request takes, and at least one", () => {
    const held = new Held(100)
    const long = "\u0001".repeat(10_000)
    for (let n = 0; n < 100; n++) {
      held.take(callOf(n))
      held.end(endingOf(callOf(n), long))
    }
    const first = held.next(0)
    assert.isBelow(JSON.stringify(first).length, 1024 * 1024)
    assert.isAtLeast(first.length, 1)
  })
})

describe("the pause after a failure", () => {
  const Failures = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))
  const Random = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

  it.prop(
    "is at most five seconds, and never shorter than an eighth",
    [Failures, Random],
    ([n, random]) => {
      const ms = backoffMs(n, random)
      assert.isAtLeast(ms, 125)
      assert.isAtMost(ms, 5_000)
    }
  )
})
