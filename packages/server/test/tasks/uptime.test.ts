// @tags idle
import { uptimePeriods, type UptimePeriod } from "@scheduling/domain/monitors/MonitorUptime"
import type { TaskUptimeSeries, TaskUptime } from "@scheduling/domain/tasks/TaskUptime"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { StatsRollUpRepo } from "../../src/tasks/executions/StatsRollUpRepo.ts"
import { firstIdAt, makeRunId } from "../../src/engine/RunId.ts"
import { ask, statusAndError } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"
import { chainClientOf } from "./chains/chains.ts"
import { setUpCron } from "./cron/tasks.ts"
import { insertRuns, runAt, type RunOrExecution } from "./executions/history.ts"

const day = 86_400_000
const retentionDays = 7
const finished = ["succeeded", "failed", "cancelled", "skipped"] as const

type Status = (typeof finished)[number]

/** A finished run, as the API should count it. */
interface Expected {
  readonly at: number
  readonly status: Status
  readonly ms: number | null
}

const random = (below: number) => Math.floor(Math.random() * below)

const someStatus = (): Status =>
  Math.random() < 0.7 ? "succeeded" : (finished[random(finished.length)] ?? "failed")

/** The last five minutes are excluded, because the current period could end within them. */
const someTime = (now: number) => {
  const late = Math.random()
  const ago = late < 0.8 ? day : late < 0.95 ? 30 * day : 380 * day
  return now - 300_000 - random(ago)
}

const fixture = Effect.gen(function* () {
  const { cron, key, member } = yield* setUpCron
  const task: string = (yield* cron.create()).body.id
  const chain: string = (yield* chainClientOf(member).create()).body.id
  const get = (path: string) => ask("GET", `${member.workspace}/${path}`, { token: key })
  return { member, get, task, chain }
})

type Fixture = Effect.Success<typeof fixture>

const cronRun = ({ member, task }: Fixture, at: number) => {
  const status = someStatus()
  const ms = status === "skipped" ? null : Math.floor(Math.exp(Math.random() * 12))
  const run = runAt(at, {
    workspace_id: member.workspace_id,
    task_id: task,
    status,
    started_at: ms === null ? null : new Date(at),
    finished_at: new Date(at + (ms ?? 0))
  })
  return { runs: [run], expected: { at, status, ms } }
}

/**
 * Creates a chain run with one to three steps, each of which can fail, be cancelled or be skipped.
 */
const chainRun = ({ chain, member }: Fixture, at: number) => {
  const ids = Array.from({ length: 1 + random(3) }, (_, index) => makeRunId(at + index, at))
  const runs = ids.map((id, index): RunOrExecution => {
    const from = at + index * 2_000
    return runAt(from, {
      id,
      workspace_id: member.workspace_id,
      task_id: chain,
      kind: "chain",
      trigger: index === 0 ? "schedule" : "chain",
      chain_run_id: ids[0] ?? id,
      step_index: index,
      step: `step${index}`,
      status: someStatus(),
      finished_at: new Date(from + 1 + random(1_900))
    })
  })
  const has = (status: Status) => runs.some((run) => run.status === status)
  const status = has("cancelled")
    ? "cancelled"
    : has("failed")
      ? "failed"
      : runs[0]?.status === "skipped"
        ? "skipped"
        : "succeeded"
  const starts = runs.flatMap(({ started_at }) => (started_at === null ? [] : [+started_at]))
  const ms = Math.max(...runs.map((run) => Number(run.finished_at))) - Math.min(...starts)
  return {
    runs,
    expected: { at, status, ms: Number.isFinite(ms) ? ms : null } satisfies Expected
  }
}

const repository = Effect.provide(StatsRollUpRepo, StatsRollUpRepo.layer)

/** Rolls up everything in small batches, on two nodes simultaneously. One of them stops midway. */
const rollUp = Effect.gen(function* () {
  const repo = yield* repository
  const upTo = yield* TestClock.withLive(repo.settledOrdinal)
  const all = Effect.repeat(repo.takeIn({ upTo, size: 7 }), { while: (took) => took })
  const stopped = yield* Effect.forkChild(all)
  yield* repo.takeIn({ upTo, size: 5 })
  yield* Fiber.interrupt(stopped)
  yield* Effect.all([all, all], { concurrency: "unbounded" })
  yield* all
})

/** Deletes history that is older than the retention, as dropping daily partitions does. */
const retain = Effect.fnUntraced(function* (now: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    DELETE FROM executions
    WHERE id < ${firstIdAt(now - retentionDays * day)}`
  const repo = yield* repository
  yield* Effect.all([repo.moveOldBuckets(new Date(now)), repo.moveOldBuckets(new Date(now))], {
    concurrency: "unbounded"
  })
})

const percentile = (sorted: ReadonlyArray<number>, percent: number) =>
  sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0

type Figures = Omit<TaskUptime, "period" | "from" | "to">

const assertFigures = (body: Figures, runs: ReadonlyArray<Expected>, what: string) => {
  const count = (status: Status) => runs.filter((run) => run.status === status).length
  const counts = Object.fromEntries(finished.map((status) => [status, count(status)]))
  const answered = count("succeeded") + count("failed")
  assert.deepInclude(
    body,
    { ...counts, success_rate: answered === 0 ? null : count("succeeded") / answered },
    what
  )
  const durations = runs
    .flatMap(({ ms, status }) =>
      ms !== null && (status === "succeeded" || status === "failed") ? [ms] : []
    )
    .toSorted((a, b) => a - b)
  if (durations.length === 0) return assert.isNull(body.duration_ms, what)
  for (const percent of [50, 95, 99] as const) {
    const exact = percentile(durations, percent)
    const found = body.duration_ms?.[`p${percent}`] ?? NaN
    assert.isAtMost(Math.abs(found - exact), exact < 50 ? 0 : exact * 0.02, `${what} ${percent}`)
  }
}

/** Compares each period and each bucket with all runs that have ever existed. */
const check = Effect.fnUntraced(function* (
  { get }: Fixture,
  path: string,
  runs: ReadonlyArray<Expected>
) {
  for (const period of Object.keys(uptimePeriods) as ReadonlyArray<UptimePeriod>) {
    const { body: total, status } = yield* get(`${path}/uptime?period=${period}`)
    assert.strictEqual(status, 200)
    const from = Date.parse(total.from)
    const asked = runs.filter(({ at }) => at >= from)
    assertFigures(total, asked, `${path} ${period}`)
    const series: TaskUptimeSeries = (yield* get(`${path}/series?period=${period}`)).body
    const width = series.bucket_seconds * 1_000
    const grouped = Map.groupBy(asked, ({ at }) => Math.floor((at - from) / width))
    series.buckets.forEach(({ start, ...figures }, index) => {
      assert.strictEqual(Date.parse(start), from + index * width)
      assertFigures(figures, grouped.get(index) ?? [], `${path} ${period} ${start}`)
    })
    assert.isTrue([...grouped.keys()].every((index) => index < series.buckets.length))
  }
})

layer(testAppLayer())("the success rate of a task", (it) => {
  it.effect("equals that of all runs of a month and more, most of whose history is deleted", () =>
    Effect.gen(function* () {
      const made = yield* fixture
      const expected: Record<"task" | "chain", Array<Expected>> = { task: [], chain: [] }
      const checkAll = Effect.gen(function* () {
        yield* check(made, `cron/${made.task}`, expected.task)
        yield* check(made, `chains/${made.chain}`, expected.chain)
      })
      for (let today = 0; today < 36; today++) {
        const now = testNow + today * day
        for (let n = 0; n < 12; n++) {
          const ofTask = cronRun(made, someTime(now))
          const ofChain = chainRun(made, someTime(now))
          expected.task.push(ofTask.expected)
          expected.chain.push(ofChain.expected)
          yield* insertRuns([...ofTask.runs, ...ofChain.runs])
        }
        // Runs that have not been rolled up yet are read from the history.
        if (today % 12 === 0) yield* checkAll
        if (today % 3 === 2) {
          yield* rollUp
          yield* retain(now)
        }
        if (today % 12 === 11) yield* checkAll
        yield* leap(day)
      }
      const sql = yield* SqlClient.SqlClient
      const lengths = yield* sql<{ readonly seconds: number }>`
        SELECT DISTINCT seconds
        FROM task_buckets
        WHERE workspace_id = ${made.member.workspace_id}
        ORDER BY seconds`
      assert.deepStrictEqual(
        lengths.map(({ seconds }) => seconds),
        [300, 3_600, 86_400]
      )
    })
  )

  it.effect("counts the run of a chain once, when its last step has finished", () =>
    Effect.gen(function* () {
      const made = yield* fixture
      const at = testNow - 600_000
      const first = makeRunId(at, at)
      const step = (index: number, fields: Partial<RunOrExecution>): RunOrExecution =>
        runAt(at + index * 60_000, {
          id: index === 0 ? first : makeRunId(at + index, at),
          workspace_id: made.member.workspace_id,
          task_id: made.chain,
          kind: "chain",
          trigger: index === 0 ? "schedule" : "chain",
          chain_run_id: first,
          step_index: index,
          step: `step${index}`,
          ...fields
        })
      const second = step(1, {
        status: "running",
        steps: [
          { name: "step0", url: "https://api.example.com/0" },
          { name: "step1", url: "https://api.example.com/1" }
        ]
      })
      yield* insertRuns([step(0, {}), second])
      const counted = Effect.map(made.get(`chains/${made.chain}/uptime`), ({ body }) => [
        body.succeeded,
        body.failed
      ])
      assert.deepStrictEqual(yield* counted, [0, 0])
      yield* rollUp
      assert.deepStrictEqual(yield* counted, [0, 0])
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM runs WHERE id = ${second.id}`
      const finished_at = new Date(at + 90_000)
      const failed = { status: "failed", error: "timeout: no response", finished_at } as const
      yield* insertRuns([{ ...second, ...failed, steps: null }])
      assert.deepStrictEqual(yield* counted, [0, 1])
      yield* rollUp
      assert.deepStrictEqual(yield* counted, [0, 1])
      const { body } = yield* made.get(`chains/${made.chain}/uptime?period=7d`)
      assert.closeTo(body.duration_ms.p50, 90_000, 1_800)
    })
  )

  it.effect("is null without runs, and is not shown to others", () =>
    Effect.gen(function* () {
      const made = yield* fixture
      const { body } = yield* made.get(`cron/${made.task}/uptime`)
      assert.deepInclude(body, { period: "24h", succeeded: 0, success_rate: null })
      const stranger = yield* fixture
      const unknown = yield* made.get(`cron/${stranger.task}/series`)
      assert.strictEqual(statusAndError(unknown), "404 not_found")
      assert.strictEqual(
        statusAndError(yield* made.get(`chains/${made.task}/uptime`)),
        "404 not_found"
      )
      assert.strictEqual((yield* made.get(`cron/${made.task}/uptime?period=1h`)).status, 422)
    })
  )

  it.effect("is forgotten once its task is deleted and its buckets are old", () =>
    Effect.gen(function* () {
      const made = yield* fixture
      yield* insertRuns(cronRun(made, testNow - 9 * day).runs)
      yield* insertRuns(chainRun(made, testNow - 9 * day).runs)
      yield* rollUp
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM tasks WHERE id = ${made.task}`
      yield* (yield* repository).moveOldBuckets(new Date(testNow))
      const left = yield* sql`
        SELECT task_id, seconds
        FROM task_buckets
        WHERE workspace_id = ${made.member.workspace_id}`
      assert.deepStrictEqual(left, [{ task_id: made.chain, seconds: 3_600 }])
    })
  )
})
