import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  alertAt,
  decideHeartbeat,
  type HeartbeatChange,
  type HeartbeatRules,
  type HeartbeatSignal,
  type HeartbeatState,
  newHeartbeat
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

type Told = readonly [HeartbeatSignal, number]

/** What comes of all that is told, and the changes on the way. */
const tell = (of: HeartbeatRules, told: ReadonlyArray<Told>, from = newHeartbeat) => {
  const changes: Array<HeartbeatChange> = []
  let state: HeartbeatState = from
  for (const [signal, at] of told) {
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
  it("tells of nothing before its first ping", () => {
    assert.deepStrictEqual(tell(rules, [[time, start + 365 * 24 * hour]]).story, [])
  })

  it("goes down when a ping is later than the grace, dated when its time was up", () => {
    const { story } = tell(rules, [
      [success(), start],
      [time, start + 65 * minute],
      [time, start + 90 * minute]
    ])
    assert.deepStrictEqual(story, [
      ["up", 0, null],
      ["down", 65, "missed"]
    ])
  })

  it("takes a ping at the last moment, and for one after it goes down and up", () => {
    const at = (ms: number) =>
      tell(rules, [
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

  it("goes down with a failure, once, and comes back with a success", () => {
    const { story } = tell(rules, [
      [fail(137), start],
      [fail(1), start + minute],
      [success(), start + 2 * minute]
    ])
    assert.deepStrictEqual(story, [
      ["down", 0, "failed"],
      ["up", 2, null]
    ])
  })

  it("does not give a late start more time than its slot has", () => {
    const { story } = tell(hourly, [
      [success(), start],
      [starts(), start + 64 * minute],
      [time, start + 70 * minute]
    ])
    assert.deepStrictEqual(story.at(-1), ["down", 65, "missed"])
  })

  it("lets a long job start in time, and gives its end a deadline of its own", () => {
    const limited = { ...hourly, max_duration_seconds: 7200 }
    const { story } = tell(limited, [
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

  it("tells overlapping runs apart, and how long each took", () => {
    const told: ReadonlyArray<Told> = [
      [starts("a"), start],
      [starts("b"), start + minute],
      [success("a"), start + 5 * minute]
    ]
    const { state } = tell(rules, told)
    assert.strictEqual(state.last_duration_ms, 5 * minute)
    assert.deepStrictEqual(
      state.runs.map(({ rid }) => rid),
      ["b"]
    )
    const ended = tell(rules, [...told, [success(), start + 6 * minute]]).state
    assert.deepStrictEqual(ended.runs, [])
    assert.strictEqual(ended.last_duration_ms, 5 * minute)
  })

  it("knows how long a run took that overran", () => {
    const limited = { ...rules, max_duration_seconds: 60 }
    const { state, story } = tell(limited, [
      [starts("a"), start],
      [success("a"), start + 30 * minute]
    ])
    assert.strictEqual(state.last_duration_ms, 30 * minute)
    assert.deepStrictEqual(story, [
      ["down", 1, "overran"],
      ["up", 30, null]
    ])
  })

  it("forgets the oldest of more runs than a row should hold", () => {
    const { state } = tell(
      rules,
      Array.from({ length: 30 }, (_, index): Told => [starts(`run ${index}`), start + index])
    )
    assert.strictEqual(state.runs.length, 20)
    assert.strictEqual(state.runs[0]?.rid, "run 10")
  })

  it("finds a run that begins too soon, and not the same ping that comes again", () => {
    const spaced = { ...rules, min_interval_seconds: 600 }
    assert.deepStrictEqual(
      tell(spaced, [
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
    // Ends may be near each other where starts are not.
    assert.deepStrictEqual(
      tell(spaced, [
        [starts("a"), start],
        [starts("b"), start + 11 * minute],
        [success("a"), start + 12 * minute],
        [success("b"), start + 13 * minute]
      ]).story,
      [["up", 12, null]]
    )
  })

  it("lets a ping a little before its slot count for it, but no more than five minutes", () => {
    const nightly = { ...hourly, schedule: "0 3 * * *", grace_seconds: 6 * 3600 }
    const expected = (before: number) => {
      const { state } = tell(nightly, [[success(), start + 3 * hour - before]])
      return new Date(state.expected_at ?? 0).toISOString().slice(0, 10)
    }
    assert.strictEqual(expected(minute), "2026-06-02")
    assert.strictEqual(expected(5 * minute), "2026-06-02")
    assert.strictEqual(expected(6 * minute), "2026-06-01")
  })

  it("takes the end of a long run for the slot that is due, and not for the next", () => {
    const slow = { ...hourly, grace_seconds: 4200 }
    const { state } = tell(slow, [
      [success(), start + 2 * minute],
      [success(), start + 118 * minute]
    ])
    assert.strictEqual(state.expected_at, start + 120 * minute)
  })

  it("expects pings in its own time zone, by the clocks of that day", () => {
    const berlin = { ...hourly, schedule: "30 2 * * *", timezone: "Europe/Berlin" }
    const after = (at: string) =>
      new Date(tell(berlin, [[success(), Date.parse(at)]]).state.expected_at ?? 0).toISOString()
    assert.strictEqual(after("2026-06-01T01:00:00Z"), "2026-06-02T00:30:00.000Z")
    // 02:30 does not exist on 29 March 2026: it stands for itself right after the gap.
    assert.strictEqual(after("2026-03-28T02:00:00Z"), "2026-03-29T01:00:00.000Z")
  })

  it("records pings while it is paused, and lets them change nothing", () => {
    const paused = tell(rules, [
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

  it("expects a ping from when it was resumed, if it ever had one", () => {
    const resumed = (first: HeartbeatSignal) =>
      tell(rules, [
        [first, start],
        [{ type: "pause" }, start + minute],
        [{ type: "resume" }, start + 24 * hour],
        [time, start + 48 * hour]
      ]).story.at(-1)
    assert.deepStrictEqual(resumed(success()), ["down", 24 * 60 + 65, "missed"])
    assert.deepStrictEqual(resumed({ type: "log", rid: null }), ["new", 24 * 60, null])
  })

  it("does not go down because its rules change", () => {
    const daily = { ...rules, period_seconds: 86_400 }
    const { state } = tell(daily, [[success(), start]])
    const at = start + 12 * hour
    const decision = decideHeartbeat(rules, state, { type: "rules", before: daily }, at)
    assert.deepStrictEqual(decision.changes, [])
    assert.strictEqual(alertAt(rules, decision.state), at + 65 * minute)
    // What was overdue by the old rules is.
    const overdue = tell(rules, [[success(), start]]).state
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
/** Each some time after the one before, and how often somebody looks at the deadline meanwhile. */
const Story = Schema.Array(
  Schema.Struct({ signal: Signal, afterMs: between(0, 3 * hour), looks: between(0, 3) })
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

const toTold = (story: typeof Story.Type, withLooks: boolean): ReadonlyArray<Told> => {
  // A clock change of Europe/Berlin comes up on the way.
  let at = Date.UTC(2026, 2, 28, 20)
  return story.flatMap(({ afterMs, looks, signal }) => {
    const from = at
    at += afterMs
    const seen = Array.from({ length: withLooks ? looks : 0 }, (_, index): Told => [
      time,
      from + Math.floor((afterMs * (index + 1)) / (looks + 1))
    ])
    return [...seen, [signal, at] as const]
  })
}

const lastTime = (told: ReadonlyArray<Told>) => (told.at(-1)?.[1] ?? start) + 3 * hour

describe("whatever is told to a heartbeat", () => {
  it.prop(
    "it comes to the same, however often somebody looked at the deadlines",
    [Rules, Story],
    ([given, story]) => {
      const of = toRules(given)
      const end: Told = [time, lastTime(toTold(story, false))]
      const seldom = tell(of, [...toTold(story, false), end])
      const often = tell(of, [...toTold(story, true), end])
      assert.deepStrictEqual(often.changes, seldom.changes)
      assert.deepStrictEqual(often.state, seldom.state)
    }
  )

  it.prop(
    "its changes follow one another in time, each from where the last one led",
    [Rules, Story],
    ([given, story]) => {
      const told = toTold(story, true)
      const { changes, state } = tell(toRules(given), told)
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
    "it goes down by itself just after its deadline, and never before",
    [Rules, Story],
    ([given, story]) => {
      const of = toRules(given)
      const told = toTold(story, false)
      const { state } = tell(of, told)
      const due = alertAt(of, state)
      const last = told.at(-1)?.[1] ?? start
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
    "it is up after a success, unless it came too soon or is paused",
    [Rules, Story],
    ([given, story]) => {
      const of = { ...toRules(given), min_interval_seconds: null }
      const told = toTold(story, false)
      const { state } = tell(of, told)
      const after = decideHeartbeat(of, state, success(), lastTime(told)).state
      assert.strictEqual(after.status, state.status === "paused" ? "paused" : "up")
    }
  )

  it.prop(
    "a job that pings around each slot is never told to be down",
    [between(0, 100_000)],
    ([seed]) => {
      // From four minutes early to as late as the grace lets it be.
      const of: HeartbeatRules = { ...hourly, grace_seconds: 600 }
      const told = Array.from({ length: 48 }, (_, slot): Told => {
        const wander = ((seed * (slot + 7) * 7919) % 840) * 1000
        return [success(), start + slot * hour - 4 * minute + wander]
      })
      assert.deepStrictEqual(tell(of, told).story.length, 1)
    }
  )
})
