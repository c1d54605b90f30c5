// @tags idle
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { StatsRollUpRepo } from "../../../src/tasks/executions/StatsRollUpRepo.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { ask, type Member, statusAndError, signUp } from "../../support/http.ts"
import { twoTestNodesLayer, testNow } from "../../support/TestApp.ts"
import { insertRuns, runAt, type RunOrExecution } from "./history.ts"

const minute = 60_000
const hour = 60 * minute
const lengthOf = { hour, day: 24 * hour }

const statuses = ["queued", "running", "succeeded", "failed", "cancelled", "skipped"] as const

const stats = (member: Member, query: Readonly<Record<string, string>> = {}) =>
  ask("GET", `${member.workspace}/executions/stats?${new URLSearchParams(query)}`, {
    token: member.access_token
  })

const nothing = {
  counts: { queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 },
  success_rate: null,
  duration_ms: null,
  lateness_ms: null
}

/** Calculates the exact statistics of executions from all of their values. */
const figuresOf = (runs: ReadonlyArray<RunOrExecution>) => {
  const count = (status: string) => runs.filter((run) => run.status === status).length
  const answered = count("succeeded") + count("failed")
  const between = (from: Date | null, to: Date | null) =>
    from === null || to === null ? [] : [to.getTime() - from.getTime()]
  return {
    counts: Object.fromEntries(statuses.map((status) => [status, count(status)])),
    success_rate: answered === 0 ? null : count("succeeded") / answered,
    duration_ms: percentiles(
      runs
        .filter((run) => run.status === "succeeded" || run.status === "failed")
        .flatMap((run) => between(run.started_at, run.finished_at))
    ),
    lateness_ms: percentiles(runs.flatMap((run) => between(run.scheduled_for, run.started_at)))
  }
}

const percentiles = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (percent: number) => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0
  return values.length === 0 ? null : { p50: at(50), p95: at(95), p99: at(99) }
}

type Figures = ReturnType<typeof figuresOf>

const assertSame = (actual: Figures, expected: Figures, what: string) => {
  assert.deepStrictEqual(actual.counts, expected.counts, what)
  assert.strictEqual(actual.success_rate, expected.success_rate, what)
  for (const measure of ["duration_ms", "lateness_ms"] as const) {
    const [found, exact] = [actual[measure], expected[measure]]
    if (found === null || exact === null) {
      assert.strictEqual(found, exact, `${what} ${measure}`)
      continue
    }
    for (const name of ["p50", "p95", "p99"] as const) {
      const off = Math.abs(found[name] - exact[name])
      assert.isAtMost(off, exact[name] < 50 ? 0 : exact[name] * 0.02, `${what} ${measure} ${name}`)
    }
  }
}

/** Requests statistics, and compares each value with the exact value. */
const check = Effect.fnUntraced(function* (
  member: Member,
  runs: ReadonlyArray<RunOrExecution>,
  query: {
    readonly from: number
    readonly to: number
    readonly bucket: "hour" | "day"
    readonly task_id?: string | undefined
  }
) {
  const { bucket, from, task_id, to } = query
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const { body, status } = yield* stats(member, {
    ...range,
    bucket,
    ...(task_id === undefined ? {} : { task_id })
  })
  assert.strictEqual(status, 200)
  const asked = runs.filter(
    (run) =>
      run.scheduled_for.getTime() >= from &&
      run.scheduled_for.getTime() < to &&
      (task_id === undefined || run.task_id === task_id)
  )
  const what = JSON.stringify({ ...query, ...range })
  const { buckets, totals, ...rest } = body
  assert.deepStrictEqual(rest, { ...range, bucket }, what)
  assertSame(totals, figuresOf(asked), what)
  const length = lengthOf[bucket]
  let start = Math.floor(from / length) * length
  for (const { start: shown, ...figures } of buckets) {
    assert.strictEqual(shown, new Date(start).toISOString(), what)
    const inside = asked.filter(
      ({ scheduled_for }) => Math.floor(scheduled_for.getTime() / length) * length === start
    )
    assertSame(figures, figuresOf(inside), `${what} ${shown}`)
    start += length
  }
  assert.isTrue(start >= to && start - length < to, what)
})

/** Rolls up this number of batches. By default, rolls up everything. */
const rollUp = Effect.fnUntraced(function* ({ pieces = Infinity } = {}) {
  const repo = yield* Effect.provide(StatsRollUpRepo, StatsRollUpRepo.layer)
  const upTo = yield* TestClock.withLive(repo.settledOrdinal)
  for (let taken = 0; taken < pieces && (yield* repo.takeIn({ upTo, size: 50 })); taken++);
})

const databaseNow = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ now: Date }>`SELECT now()`
  return row?.now.getTime() ?? 0
})

const random = (below: number) => Math.floor(Math.random() * below)

/** Returns a random duration: mostly short, sometimes long. */
const someDuration = () => Math.floor(Math.exp(Math.random() * 12)) - 1

const pick = <A>(values: ReadonlyArray<A>): A | undefined => values[random(values.length)]

/** Creates a run as the engine could have written it, either on time or for a missed firing. */
const someRun = (
  member: Member,
  tasks: ReadonlyArray<string>,
  at: number,
  { missed }: { readonly missed: boolean }
): RunOrExecution => {
  const status = pick(statuses) ?? "succeeded"
  const made = missed ? at + random(5 * hour) : at
  const start = status === "queued" || status === "skipped" ? null : made + random(400)
  const finish =
    status === "queued" || status === "running" ? null : (start ?? made) + someDuration()
  // Some nodes have a wrong clock, which affects the ids that they create.
  const wrongMs = pick([0, 0, 0, -20 * minute, 20 * minute]) ?? 0
  const id = makeRunId(at + wrongMs, made + wrongMs)
  return runAt(at, {
    workspace_id: member.workspace_id,
    task_id: pick(tasks) ?? randomUUID(),
    id,
    status,
    started_at: start === null ? null : new Date(start),
    finished_at: finish === null ? null : new Date(finish)
  })
}

layer(twoTestNodesLayer())("statistics of executions", (it) => {
  it.effect("equal the sum of all executions, before, during and after the roll-up", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const tasks = Array.from({ length: 3 }, () => randomUUID())
      const now = yield* databaseNow
      const oldest = now - 50 * hour
      const runs: Array<RunOrExecution> = []

      const checkAll = Effect.gen(function* () {
        for (let round = 0; round < 4; round++) {
          const bucket = round % 2 === 0 ? "hour" : "day"
          const from = oldest - hour + random(50 * hour)
          const to = from + 1 + random(pick([hour, 4 * hour, 52 * hour]) ?? hour)
          yield* check(member, runs, { bucket, from, to, task_id: pick([undefined, ...tasks]) })
        }
        const whole = Math.floor(oldest / lengthOf.day) * lengthOf.day
        yield* check(member, runs, { bucket: "day", from: whole, to: whole + 4 * lengthOf.day })
        yield* check(member, runs, { bucket: "hour", from: whole, to: whole + 4 * lengthOf.day })
      })

      runs.push(
        ...Array.from({ length: 600 }, (_, index) =>
          someRun(member, tasks, oldest + random(50 * hour), { missed: index % 10 === 0 })
        )
      )
      yield* insertRuns(runs)
      yield* checkAll
      yield* rollUp({ pieces: 5 })
      yield* checkAll
      yield* Effect.all([rollUp(), rollUp(), rollUp()], { concurrency: "unbounded" })
      yield* checkAll

      // This also adds executions to hours that have already been rolled up.
      const more = Array.from({ length: 100 }, (_, index) =>
        someRun(member, tasks, oldest + random(50 * hour), { missed: index % 2 === 0 })
      )
      yield* insertRuns(more)
      runs.push(...more)
      yield* checkAll
      yield* rollUp()
      yield* checkAll
    })
  )

  it.effect("are of the last 24 hours by the hour by default, with empty buckets", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { body, status } = yield* stats(member)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body, {
        from: "2026-05-31T12:00:00.000Z",
        to: "2026-06-01T12:00:00.000Z",
        bucket: "hour",
        totals: nothing,
        buckets: Array.from({ length: 24 }, (_, index) => ({
          start: new Date(testNow - (24 - index) * hour).toISOString(),
          ...nothing
        }))
      })
    })
  )

  it.effect("of one execution are its own", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const stranger = yield* signUp()
      const now = yield* databaseNow
      const at = now - 10 * minute
      const run = runAt(at, {
        workspace_id: member.workspace_id,
        started_at: new Date(at + 4),
        finished_at: new Date(at + 44)
      })
      yield* insertRuns([run])
      const range = { from: new Date(at).toISOString(), to: new Date(at + 1).toISOString() }
      const { body } = yield* stats(member, range)
      const figures = {
        counts: { ...nothing.counts, succeeded: 1 },
        success_rate: 1,
        duration_ms: { p50: 40, p95: 40, p99: 40 },
        lateness_ms: { p50: 4, p95: 4, p99: 4 }
      }
      assert.deepStrictEqual(body.totals, figures)
      const start = new Date(Math.floor(at / hour) * hour).toISOString()
      assert.deepStrictEqual(body.buckets, [{ start, ...figures }])
      const before = { from: new Date(at - 1).toISOString(), to: range.from }
      assert.deepStrictEqual((yield* stats(member, before)).body.totals, nothing)
      const ofTask = { ...range, task_id: run.task_id }
      assert.deepStrictEqual((yield* stats(member, ofTask)).body.totals, figures)
      const ofOther = { ...range, task_id: randomUUID() }
      assert.deepStrictEqual((yield* stats(member, ofOther)).body.totals, nothing)
      assert.deepStrictEqual((yield* stats(stranger, range)).body.totals, nothing)
      assert.deepStrictEqual((yield* stats(stranger, ofTask)).body.totals, nothing)
    })
  )

  it.effect("reject an invalid, reversed or too long range by name", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const to = "2026-06-01T00:00:00Z"
      const refused: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
        ["from", { from: "2026-04-30T23:59:59.999Z", to, bucket: "hour" }],
        ["from", { from: "2025-05-30T23:59:59.999Z", to, bucket: "day" }],
        ["from", { from: to, to }],
        ["from", { from: "2026-06-02T00:00:00Z", to }],
        ["from", { from: "soon" }],
        ["bucket", { bucket: "week" }],
        ["task_id", { task_id: "7" }]
      ]
      for (const [name, query] of refused) {
        const answer = yield* stats(member, query)
        assert.strictEqual(statusAndError(answer), "422 validation_failed", JSON.stringify(query))
        assert.deepStrictEqual(answer.body.detail.issues[0].path, [name])
      }
      const widest = [
        { from: "2026-05-01T00:00:00Z", to, bucket: "hour" },
        { from: "2025-05-31T00:00:00Z", to, bucket: "day" },
        { from: "0000-01-01T00:00:00Z", to: "0000-01-01T00:00:00.001Z" },
        { from: "9999-12-31T23:00:00Z", to: "9999-12-31T23:59:59Z" }
      ]
      for (const query of widest) assert.strictEqual((yield* stats(member, query)).status, 200)
    })
  )
})
