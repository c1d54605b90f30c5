import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  alertTimeOf,
  decideHeartbeat,
  type HeartbeatChange,
  type HeartbeatRules,
  type HeartbeatSignal,
  type HeartbeatState,
  newHeartbeatState
} from "../../../src/monitoring/heartbeat/decideHeartbeat.ts"

const start = Date.UTC(2026, 5, 1)
const minute = 60_000
const hour = 60 * minute

const rules: HeartbeatRules = {
  period_seconds: 3600,
  schedule: null,
  timezone: "UTC",
  grace_seconds: 300,
  max_duration_seconds: null,
  min_interval_seconds: null
}
const hourly: HeartbeatRules = { ...rules, period_seconds: null, schedule: "0 * * * *" }

const success = (rid: string | null = null): HeartbeatSignal => ({ type: "success", rid })
const starts = (rid: string | null = null): HeartbeatSignal => ({ type: "start", rid })
const fail = (exit_status: number | null = null): HeartbeatSignal => ({
  type: "fail",
  rid: null,
  exit_status
})
const time: HeartbeatSignal = { type: "time" }

type TimedSignal = readonly [HeartbeatSignal, number]

/** Applies signals in order. Returns the final state and all changes. */
const apply = (
  of: HeartbeatRules,
  signals: ReadonlyArray<TimedSignal>,
  from = newHeartbeatState
) => {
  const changes: Array<HeartbeatChange> = []
  let state: HeartbeatState = from
  for (const [signal, at] of signals) {
    const decision = decideHeartbeat(of, state, signal, at)
    state = decision.state
    changes.push(...decision.changes)
  }
  return {
    state,
    changes,
    story: changes.map(({ at, cause, to }) => [to, (at - start) / minute, cause?.code ?? null])
  }
}

describe("a heartbeat", () => {
  it("never goes down before its first ping", () => {
    assert.deepStrictEqual(apply(rules, [[time, start + 365 * 24 * hour]]).story, [])
  })

  it("goes down when the grace is over, dated at that moment", () => {
    const { story } = apply(rules, [
      [success(), start],
      [time, start + 65 * minute],
      [time, start + 90 * minute]
    ])
    assert.deepStrictEqual(story, [
      ["up", 0, null],
      ["down", 65, "missed"]
    ])
  })

  it("accepts a ping at the deadline, and goes down and up for a later one", () => {
    const at = (ms: number) =>
      apply(rules, [
        [success(), start],
        [success(), start + ms]
      ]).story
    assert.deepStrictEqual(at(65 * minute), [["up", 0, null]])
    assert.deepStrictEqual(at(66 * minute), [
      ["up", 0, null],
      ["down", 65, "missed"],
      ["up", 66, null]
    ])
  })

  it("goes down once for several failures, and up with a success", () => {
    const { story } = apply(rules, [
      [fail(137), start],
      [fail(1), start + minute],
      [success(), start + 2 * minute]
    ])
    assert.deepStrictEqual(story, [
      ["down", 0, "failed"],
      ["up", 2, null]
    ])
  })

  it("gives a late start no more time than the grace of its slot", () => {
    const { story } = apply(hourly, [
      [success(), start],
      [starts(), start + 64 * minute],
      [time, start + 70 * minute]
    ])
    assert.deepStrictEqual(story.at(-1), ["down", 65, "missed"])
  })

  it("checks the start of a long run by its slot, and its end by the maximum duration", () => {
    const limited = { ...hourly, max_duration_seconds: 7200 }
    const { story } = apply(limited, [
      [success(), start],
      [starts("a"), start + 61 * minute],
      [starts("b"), start + 121 * minute],
      [success("a"), start + 170 * minute],
      [starts("c"), start + 181 * minute],
      [time, start + 200 * minute],
      [time, start + 242 * minute]
    ])
    assert.deepStrictEqual(story, [
      ["up", 0, null],
      ["down", 241, "overran"]
    ])
  })

  it("distinguishes overlapping runs, and measures each", () => {
    const signals: ReadonlyArray<TimedSignal> = [
      [starts("a"), start],
      [starts("b"), start + minute],
      [success("a"), start + 5 * minute]
    ]
    const { state } = apply(rules, signals)
    assert.strictEqual(state.last_duration_ms, 5 * minute)
    assert.deepStrictEqual(
      state.runs.map(({ rid }) => rid),
      ["b"]
    )
    const ended = apply(rules, [...signals, [success(), start + 6 * minute]]).state
    assert.deepStrictEqual(ended.runs, [])
    assert.strictEqual(ended.last_duration_ms, 5 * minute)
  })

  it("measures a run that exceeded its maximum duration", () => {
    const limited = { ...rules, max_duration_seconds: 60 }
    const { state, story } = apply(limited, [
      [starts("a"), start],
      [success("a"), start + 30 * minute]
    ])
    assert.strictEqual(state.last_duration_ms, 30 * minute)
    assert.deepStrictEqual(story, [
      ["down", 1, "overran"],
      ["up", 30, null]
    ])
  })

  it("forgets the oldest of more than 20 unfinished runs", () => {
    const { state } = apply(
      rules,
      Array.from({ length: 30 }, (_, index): TimedSignal => [starts(`run ${index}`), start + index])
    )
    assert.strictEqual(state.runs.length, 20)
    assert.strictEqual(state.runs[0]?.rid, "run 10")
  })

  it("goes down for a run that starts too early, and not for a repeated ping", () => {
    const spaced = { ...rules, min_interval_seconds: 600 }
    assert.deepStrictEqual(
      apply(spaced, [
        [success("a"), start],
        [success("a"), start + 1000],
        [success("b"), start + 5 * minute],
        [success("c"), start + 15 * minute]
      ]).story,
      [
        ["up", 0, null],
        ["down", 5, "too_soon"],
        ["up", 15, null]
      ]
    )
    // Two runs can finish shortly after each other if their starts were far enough apart.
    assert.deepStrictEqual(
      apply(spaced, [
        [starts("a"), start],
        [starts("b"), start + 11 * minute],
        [success("a"), start + 12 * minute],
        [success("b"), start + 13 * minute]
      ]).story,
      [["up", 12, null]]
    )
  })

  it("counts a ping up to five minutes before its slot for that slot", () => {
    const nightly = { ...hourly, schedule: "0 3 * * *", grace_seconds: 6 * 3600 }
    const expected = (before: number) => {
      const { state } = apply(nightly, [[success(), start + 3 * hour - before]])
      return new Date(state.expected_at ?? 0).toISOString().slice(0, 10)
    }
    assert.strictEqual(expected(minute), "2026-06-02")
    assert.strictEqual(expected(5 * minute), "2026-06-02")
    assert.strictEqual(expected(6 * minute), "2026-06-01")
  })

  it("counts the end of a long run for the slot that is due, not for the next", () => {
    const slow = { ...hourly, grace_seconds: 4200 }
    const { state } = apply(slow, [
      [success(), start + 2 * minute],
      [success(), start + 118 * minute]
    ])
    assert.strictEqual(state.expected_at, start + 120 * minute)
  })

  it("expects pings in its time zone, with daylight saving time", () => {
    const berlin = { ...hourly, schedule: "30 2 * * *", timezone: "Europe/Berlin" }
    const after = (at: string) =>
      new Date(apply(berlin, [[success(), Date.parse(at)]]).state.expected_at ?? 0).toISOString()
    assert.strictEqual(after("2026-06-01T01:00:00Z"), "2026-06-02T00:30:00.000Z")
    // 02:30 does not exist on 29 March 2026, so the slot is immediately after the missing hour.
    assert.strictEqual(after("2026-03-28T02:00:00Z"), "2026-03-29T01:00:00.000Z")
  })

  it("records pings while it is paused, but changes nothing else", () => {
    const paused = apply(rules, [
      [success(), start],
      [starts(), start + minute],
      [{ type: "pause" }, start + 2 * minute]
    ]).state
    assert.deepInclude(paused, { status: "paused", expected_at: null, runs: [] })
    for (const signal of [success(), fail(), starts()]) {
      const { changes, records, state } = decideHeartbeat(rules, paused, signal, start + hour)
      assert.deepStrictEqual(state, paused)
      assert.deepStrictEqual(changes, [])
      assert.strictEqual(records.length, 1)
    }
  })

  it("expects the next ping one period after it was resumed, if it has ever received one", () => {
    const resumed = (first: HeartbeatSignal) =>
      apply(rules, [
        [first, start],
        [{ type: "pause" }, start + minute],
        [{ type: "resume" }, start + 24 * hour],
        [time, start + 48 * hour]
      ]).story.at(-1)
    assert.deepStrictEqual(resumed(success()), ["down", 24 * 60 + 65, "missed"])
    assert.deepStrictEqual(resumed({ type: "log", rid: null }), ["new", 24 * 60, null])
  })

  it("does not go down because its settings change", () => {
    const daily = { ...rules, period_seconds: 86_400 }
    const { state } = apply(daily, [[success(), start]])
    const at = start + 12 * hour
    const decision = decideHeartbeat(rules, state, { type: "rules", before: daily }, at)
    assert.deepStrictEqual(decision.changes, [])
    assert.strictEqual(alertTimeOf(rules, decision.state), at + 65 * minute)
    // A deadline that had passed under the old settings still opens an incident.
    const overdue = apply(rules, [[success(), start]]).state
    const late = decideHeartbeat(daily, overdue, { type: "rules", before: rules }, at)
    assert.deepStrictEqual(
      late.changes.map(({ to }) => to),
      ["down"]
    )
  })
})

// ---------------------------------------------------------------------------

const Rid = Schema.NullOr(Schema.Literals(["a", "b", "c"]))
const Signal = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["success", "start", "log"]), rid: Rid }),
  Schema.Struct({
    type: Schema.Literal("fail"),
    rid: Rid,
    exit_status: Schema.NullOr(Schema.Literals([1, 137]))
  }),
  Schema.Struct({ type: Schema.Literals(["pause", "resume"]) })
])
const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))
/** Signals, each with the time since the previous one and the number of checks in between. */
const Story = Schema.Array(
  Schema.Struct({ signal: Signal, afterMs: between(0, 3 * hour), checks: between(0, 3) })
)
const Rules = Schema.Struct({
  rhythm: Schema.Literals(["30", "3600", "86400", "*/7 * * * *", "0 * * * *", "30 2 * * *"]),
  timezone: Schema.Literals(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
  grace_seconds: between(30, 7200),
  max_duration_seconds: Schema.NullOr(between(1, 7200)),
  min_interval_seconds: Schema.NullOr(between(1, 3600))
})

const toRules = ({ rhythm, ...rest }: typeof Rules.Type): HeartbeatRules => ({
  ...rest,
  period_seconds: /^\d+$/.test(rhythm) ? Number(rhythm) : null,
  schedule: /^\d+$/.test(rhythm) ? null : rhythm
})

const toTimedSignals = (
  story: typeof Story.Type,
  withChecks: boolean
): ReadonlyArray<TimedSignal> => {
  // The signals span the start of daylight saving time in Europe/Berlin.
  let at = Date.UTC(2026, 2, 28, 20)
  return story.flatMap(({ afterMs, checks, signal }) => {
    const from = at
    at += afterMs
    const seen = Array.from({ length: withChecks ? checks : 0 }, (_, index): TimedSignal => [
      time,
      from + Math.floor((afterMs * (index + 1)) / (checks + 1))
    ])
    return [...seen, [signal, at] as const]
  })
}

const lastTime = (signals: ReadonlyArray<TimedSignal>) => (signals.at(-1)?.[1] ?? start) + 3 * hour

describe("for any signals", () => {
  it.prop(
    "the result does not depend on how often deadlines were checked",
    [Rules, Story],
    ([given, story]) => {
      const of = toRules(given)
      const end: TimedSignal = [time, lastTime(toTimedSignals(story, false))]
      const seldom = apply(of, [...toTimedSignals(story, false), end])
      const often = apply(of, [...toTimedSignals(story, true), end])
      assert.deepStrictEqual(often.changes, seldom.changes)
      assert.deepStrictEqual(often.state, seldom.state)
    }
  )

  it.prop(
    "status changes are in order of time, and each starts from the previous status",
    [Rules, Story],
    ([given, story]) => {
      const signals = toTimedSignals(story, true)
      const { changes, state } = apply(toRules(given), signals)
      let [status, at] = ["new", 0]
      for (const change of changes) {
        assert.strictEqual(change.from, status)
        assert.notStrictEqual(change.to, change.from)
        assert.isAtLeast(change.at, at)
        assert.strictEqual(change.to === "down", change.cause !== null)
        ;[status, at] = [change.to, change.at]
      }
      assert.strictEqual(state.status, status)
    }
  )

  it.prop(
    "a heartbeat goes down right after its deadline, and never before",
    [Rules, Story],
    ([given, story]) => {
      const of = toRules(given)
      const signals = toTimedSignals(story, false)
      const { state } = apply(of, signals)
      const due = alertTimeOf(of, state)
      const last = signals.at(-1)?.[1] ?? start
      const isWatched =
        state.status === "up" || (state.status === "new" && state.expected_at !== null)
      if (isWatched) assert.isNotNull(due)
      if (due === null) {
        assert.deepStrictEqual(decideHeartbeat(of, state, time, last + 400 * 24 * hour).changes, [])
        return
      }
      assert.isAtLeast(due, last)
      assert.deepStrictEqual(decideHeartbeat(of, state, time, due).changes, [])
      const [change, ...more] = decideHeartbeat(of, state, time, due + 1).changes
      assert.deepInclude(change, { to: "down", at: due })
      assert.deepStrictEqual(more, [])
    }
  )

  it.prop(
    "a heartbeat is up after a success, unless it is paused",
    [Rules, Story],
    ([given, story]) => {
      const of = { ...toRules(given), min_interval_seconds: null }
      const signals = toTimedSignals(story, false)
      const { state } = apply(of, signals)
      const after = decideHeartbeat(of, state, success(), lastTime(signals)).state
      assert.strictEqual(after.status, state.status === "paused" ? "paused" : "up")
    }
  )

  it.prop(
    "a job that pings close to each slot never goes down",
    [between(0, 100_000)],
    ([seed]) => {
      // Pings arrive between four minutes early and the end of the grace period.
      const of: HeartbeatRules = { ...hourly, grace_seconds: 600 }
      const signals = Array.from({ length: 48 }, (_, slot): TimedSignal => {
        const wander = ((seed * (slot + 7) * 7919) % 840) * 1000
        return [success(), start + slot * hour - 4 * minute + wander]
      })
      assert.deepStrictEqual(apply(of, signals).story.length, 1)
    }
  )
})
