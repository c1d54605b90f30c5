import { assert, describe, it } from "@effect/vitest"
import { TaskId } from "@scheduling/domain/executions/Execution"
import { ExecutionId } from "@scheduling/domain/shared/Ids"
import { maxHeldPerSlot, type WorkerCall } from "@scheduling/domain/workers/WorkerProtocol"
import { Schema } from "effect"
import { backoffMs } from "../../src/service/backoff.ts"
import { Held, resultOf } from "../../src/runs/Held.ts"

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

/** What is held once the calls of these runs have begun, as far as there are slots. */
const holding = (slots: number, count: number) => {
  const held = new Held(slots)
  const calls = Array.from({ length: count }, (_, n) => callOf(n))
  held.take(calls, count, 0)
  return { held, calls, begun: beginAll(held) }
}

const beginAll = (held: Held) => {
  const begun: Array<WorkerCall> = []
  for (let next = held.next(); next !== undefined; next = held.next()) begun.push(next)
  return begun
}

const returned = {
  outcome: "returned" as const,
  status_code: null,
  response_body: null,
  error: null,
  retry_after_seconds: null,
  duration_ms: 0,
  endedAtMs: 0
}

describe("what the agent holds", () => {
  it("are not more than were asked for, whatever the service gives", () => {
    const held = new Held(4)
    const calls = Array.from({ length: 200 }, (_, n) => callOf(n))
    assert.strictEqual(held.take(calls, 4, 0), 4)
    assert.strictEqual(held.take(calls.slice(0, 4), 4, 0), 0)
    assert.strictEqual(held.size, 4)
  })

  it("stays until the service has acknowledged the result", () => {
    const { begun, held } = holding(2, 2)
    const [one, two] = begun as [WorkerCall, WorkerCall]
    held.take([one], 1, 0)
    assert.deepStrictEqual([held.size, held.running, held.free], [2, 2, 0])
    held.end(endingOf(one, "OK", 100))
    const endings = held.takeEndings()
    assert.deepInclude(resultOf(endings[0]!, 350), { run_id: one.run_id, ended_ago_ms: 250 })
    assert.deepStrictEqual([held.running, held.unsent, held.size], [1, 1, 2])
    held.release(endings)
    assert.deepStrictEqual([held.free, held.unsent, held.ids], [1, 0, [two.run_id]])
  })

  it("goes with one request, and with the next if that one fails", () => {
    const { begun, held } = holding(3, 3)
    for (const one of begun.slice(0, 2)) held.end(endingOf(one))
    const endings = held.takeEndings()
    assert.lengthOf(endings, 2)
    assert.isEmpty(held.takeEndings())
    held.end(endingOf(begun[2]!))
    held.keep(endings)
    assert.deepStrictEqual(
      held.takeEndings().map(({ run_id }) => run_id),
      begun.map(({ run_id }) => run_id)
    )
  })

  it("takes a slot until its call has ended, if not too many results are kept", () => {
    const { held } = holding(2, 0)
    for (let n = 0; n < 2 * maxHeldPerSlot; n++) {
      assert.isAtLeast(held.free, 1)
      held.take([callOf(n)], 2, 0)
      for (const call of beginAll(held)) held.end(endingOf(call))
    }
    assert.deepStrictEqual([held.size, held.running, held.free, held.wanted(0)], [8, 0, 0, 0])
    held.release(held.takeEndings().slice(0, 1))
    assert.deepStrictEqual([held.free, held.wanted(0)], [1, 1])
  })

  it("waits for a slot where more is given than there are, in the order in which it came", () => {
    const { begun, calls, held } = holding(2, 4)
    assert.deepStrictEqual(begun, calls.slice(0, 2))
    assert.deepStrictEqual([held.running, held.free, held.size], [2, 0, 4])
    held.end(endingOf(calls[0]!))
    assert.strictEqual(held.free, 0)
    assert.deepStrictEqual(beginAll(held), [calls[2]!])
  })

  it("forgets everything with its session, and what ends after that", () => {
    const { begun, held } = holding(2, 3)
    held.clear()
    held.end(endingOf(begun[0]!))
    assert.deepStrictEqual([held.free, held.size, held.unsent], [2, 0, 0])
    assert.isEmpty(held.takeEndings())
    assert.isEmpty(beginAll(held))
  })

  it("is cut off while its call is under way, and not after", () => {
    const { begun, held } = holding(3, 3)
    const cut: Array<number> = []
    begun.forEach((call, n) => held.begin(call.run_id, () => cut.push(n)))
    const [one, two, three] = begun as [WorkerCall, WorkerCall, WorkerCall]
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

  it("ends without a call if it is dismissed while it waits", () => {
    const { calls, held } = holding(1, 2)
    assert.isFalse(held.dismiss(calls[0]!.run_id, returned))
    assert.isTrue(held.dismiss(calls[1]!.run_id, returned))
    assert.deepStrictEqual([held.running, held.unsent], [1, 1])
    held.end(endingOf(calls[0]!))
    assert.isEmpty(beginAll(held))
  })

  it("goes back if it waits too long, and may be given again before the service has answered", () => {
    const { calls, held } = holding(1, 2)
    held.take([callOf(2)], 1, 500)
    held.giveBack(100, returned)
    assert.deepStrictEqual(held.ids, [calls[0]!.run_id, callOf(2).run_id])
    const endings = held.takeEndings()
    assert.deepStrictEqual(
      endings.map(({ outcome, run_id }) => [run_id, outcome]),
      [[calls[1]!.run_id, "returned"]]
    )
    held.take([calls[1]!], 1, 600)
    held.release(endings)
    assert.deepStrictEqual([held.size, held.unsent], [3, 0])
  })

  it("hands in as much as one request takes, and at least one", () => {
    const { begun, held } = holding(100, 100)
    const long = "\u0001".repeat(10_000)
    for (const call of begun) held.end(endingOf(call, long))
    const first = held.takeEndings()
    assert.isBelow(JSON.stringify(first).length, 1024 * 1024)
    assert.isAtLeast(first.length, 1)
  })
})

describe("what the agent takes ahead", () => {
  /** Asks at 0, and ends so many calls until `nowMs`. */
  const wantedAfter = (ends: number, nowMs: number, given = 10) => {
    const { begun, held } = holding(10, 0)
    assert.isEmpty(begun)
    held.ask(0)
    const calls = Array.from({ length: given }, (_, n) => callOf(n))
    held.take(calls, 10, 0)
    for (const call of beginAll(held).slice(0, ends)) held.end(endingOf(call))
    return held.wanted(nowMs) - held.free
  }

  it("is as many runs as have ended since it asked", () => {
    assert.strictEqual(wantedAfter(0, 20), 0)
    assert.strictEqual(wantedAfter(4, 20), 4)
  })

  it("is only as many as end in a twentieth of a second", () => {
    assert.strictEqual(wantedAfter(4, 100), 2)
    assert.strictEqual(wantedAfter(4, 10_000), 0)
  })

  it("is nothing where fewer runs are due than it asked for", () => {
    assert.strictEqual(wantedAfter(4, 20, 9), 0)
  })

  it("is twice the slots at most", () => {
    const { held } = holding(2, 0)
    held.ask(0)
    for (let n = 0; n < 30; n++) {
      held.take([callOf(n)], 1, 0)
      for (const call of beginAll(held)) held.end(endingOf(call))
      held.release(held.takeEndings())
    }
    assert.strictEqual(held.wanted(20), 6)
  })

  it("is nothing once runs have waited too long", () => {
    const { begun, held } = holding(4, 5)
    held.ask(0)
    held.end(endingOf(begun[0]!))
    held.giveBack(1_000, returned)
    assert.strictEqual(held.wanted(20), held.free)
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
