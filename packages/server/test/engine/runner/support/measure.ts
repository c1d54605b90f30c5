// Measures the engine on this machine: measure.ts
// drain|calls|burst|steady|seconds|idle|backlog|newcomers|stop|statistics [count], with
// TEST_DATABASE_URL naming a server. The results vary by half if the machine has other work.
import { Duration, Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../../../src/core/config/Config.ts"
import { StatsRollUpLayer } from "../../../../src/tasks/executions/StatsRollUp.ts"
import { StatsRollUpRepo } from "../../../../src/tasks/executions/StatsRollUpRepo.ts"
import { Partitions } from "../../../../src/engine/Partitions.ts"
import type { Database } from "../../../../src/store/Sql.ts"
import { claim } from "../../../../src/engine/transitions/claim.ts"
import { firstPositionAt } from "../../../../src/engine/laneTurns.ts"
import { registerNode } from "../../../../src/engine/Nodes.ts"
import { RunQueue } from "../../../../src/engine/RunQueue.ts"
import { Runner } from "../../../../src/engine/runner/Runner.ts"
import { callLayer as realCalls } from "@scheduling/calls/testing/CallTargets"
import { callLayer, nodeLayer } from "./engine.ts"
import { testConfig } from "../../../support/TestApp.ts"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../../support/TestDatabase.ts"
import { makeFakeCalls, urlOf } from "./fakeCalls.ts"
import { startSink } from "./processes.ts"
import {
  enqueueAll,
  enqueueMany,
  eventually,
  readExecutions,
  insertTask,
  insertTasks,
  insertWorkspace,
  insertWorkspaceIn,
  deriveLane
} from "./tasks.ts"

const [, , what = "drain", size] = process.argv

const noCalls = nodeLayer(callLayer(() => Effect.succeed({})))

const succeeded = (count: number) =>
  eventually(
    Effect.flatMap(Runner, (runner) => runner.stats),
    (stats) => stats.succeeded >= count,
    5_000
  )

/** Returns the runs per second, from the first start to the last finish. */
const throughput = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT count(*) / extract(epoch FROM max(finished_at) - min(started_at))::float8 AS per_second
    FROM executions`
)

const lateness = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT
      count(*)::int,
      percentile_cont(ARRAY[0.5, 0.99, 1]) WITHIN GROUP (ORDER BY lateness_ms) AS p50_p99_max
    FROM executions
    WHERE scheduled_for > (SELECT min(scheduled_for) + interval '2 seconds' FROM executions)`
)

const drain = Effect.fnUntraced(function* (count: number) {
  const workspace = yield* insertWorkspace
  yield* insertTasks(workspace, { count })
  yield* enqueueAll(workspace)
  yield* succeeded(count).pipe(Effect.provide(noCalls))
  return yield* throughput
})

const calls = Effect.fnUntraced(function* (count: number) {
  const sink = yield* startSink(() => 0)
  const workspace = yield* insertWorkspace
  yield* insertTasks(workspace, { count, url: sink.url })
  yield* enqueueAll(workspace)
  yield* succeeded(count).pipe(
    Effect.provide(nodeLayer(realCalls({ limits: { perOrigin: 512, idle: 4_096 } })))
  )
  return yield* throughput
})

/** Measures the second of two bursts. The first burst is a warm-up. */
const burst = Effect.fnUntraced(function* (count: number) {
  const workspace = yield* insertWorkspace
  yield* insertTasks(workspace, { count: 3_000, fires_in: 4_000 })
  yield* insertTasks(workspace, { count, fires_in: 8_000 })
  yield* succeeded(count + 3_000).pipe(Effect.provide(noCalls))
  return yield* lateness
})

/**
 * Measures for 25 seconds while `count` tasks are due, each once, at random times spread over a
 * minute.
 */
const steady = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* insertWorkspace
  yield* insertTasks(workspace, { count })
  yield* sql`
    UPDATE tasks
    SET next_fire_at = now() + interval '4 seconds' + random() * interval '1 minute'`
  yield* Effect.provide(Effect.sleep("29 seconds"), noCalls)
  return yield* lateness
})

/**
 * Measures how late a hundred tasks in other accounts start while one account's `count` tasks fire
 * every five seconds.
 */
const seconds = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const schedule = "*/5 * * * * *"
  const hasty = yield* insertWorkspaceIn(deriveLane(1))
  yield* insertTasks(hasty, { count, schedule, fires_in: 5_000 })
  const others = yield* Effect.replicateEffect(insertWorkspace, 100)
  yield* Effect.forEach(others, (workspace) => insertTask(workspace, { fires_in: 0 }))
  yield* sql`
    UPDATE tasks
    SET next_fire_at = now() + interval '4 seconds' + random() * interval '25 seconds'
    WHERE workspace_id = ANY (${others}::uuid[])`
  const cpuBefore = process.cpuUsage()
  yield* Effect.provide(Effect.sleep("31 seconds"), noCalls)
  const cpu = process.cpuUsage(cpuBefore)
  const rows = yield* sql`
    SELECT
      workspace_id = ${hasty} AS of_the_hasty,
      count(*)::int,
      percentile_cont(ARRAY[0.5, 0.99, 1]) WITHIN GROUP (ORDER BY lateness_ms) AS p50_p99_max
    FROM executions
    GROUP BY 1`
  return { rows: JSON.stringify(rows), cpu_seconds: (cpu.user + cpu.system) / 1e6 }
})

const idle = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* insertWorkspace
  yield* insertTasks(workspace, { count, fires_in: 86_400_000 })
  const transactions = sql<{ readonly count: number }>`
    SELECT (xact_commit + xact_rollback)::float8 AS count
    FROM pg_stat_database
    WHERE datname = current_database()`
  return yield* Effect.gen(function* () {
    yield* Effect.sleep("6 seconds")
    const [before] = yield* transactions
    const cpuBefore = process.cpuUsage()
    yield* Effect.sleep("10 seconds")
    const cpu = process.cpuUsage(cpuBefore)
    const [after] = yield* transactions
    return {
      statements_per_second: ((after?.count ?? 0) - (before?.count ?? 0)) / 10,
      cpu_percent: (cpu.user + cpu.system) / 1e5
    }
  }).pipe(Effect.provide(noCalls))
})

/**
 * Measures claims that must skip the backlog of an account that already has enough runs, among both
 * the oldest and the newest runs.
 */
const backlog = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const greedy = yield* insertWorkspaceIn(deriveLane(1))
  yield* insertTasks(greedy, { count })
  yield* enqueueAll(greedy)
  // Spreads the backlog over the last 15 minutes.
  yield* sql`UPDATE runs SET due_at = due_at - random() * interval '15 minutes'`
  const other = yield* insertWorkspaceIn(deriveLane(2))
  yield* insertTasks(other, { count: 10 })
  yield* enqueueAll(other)
  yield* sql`VACUUM ANALYZE runs`
  const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 1 })
  const timed = Effect.fnUntraced(function* (fromMs: number) {
    const before = performance.now()
    const found = yield* claim(sql, {
      node,
      limit: 500,
      lookAheadMs: 0,
      from: firstPositionAt(fromMs),
      turns: { except: [1], exceptAhead: [] }
    })
    return [found.started.length, performance.now() - before]
  })
  return [yield* timed(0), yield* timed(0), yield* timed(Date.now() - 5_000)]
})

/** Measures the request that stops a queue, and how long clearing the queue takes afterwards. */
const stop = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const workspace_id = yield* insertWorkspace
  const task = { workspace_id, task_id: yield* insertTask(workspace_id) }
  for (let queued = 0; queued < count; queued += 50_000) {
    yield* enqueueMany(task, Math.min(50_000, count - queued), 3_600_000)
  }
  yield* sql`ANALYZE runs`
  return yield* Effect.gen(function* () {
    const queue = yield* RunQueue
    yield* Effect.sleep("1 second")
    const before = performance.now()
    yield* queue.stop(task)
    const stoppedMs = performance.now() - before
    yield* eventually(sql`SELECT id FROM stops`, (stops) => stops.length === 0, 10_000)
    return { stopped_ms: stoppedMs, cleared_ms: performance.now() - before }
  }).pipe(Effect.provide(noCalls))
})

/**
 * Measures how long it takes until runs in new accounts start while other accounts have 30 endless
 * runs each.
 */
const newcomers = Effect.fnUntraced(function* (accounts: number) {
  const calls = makeFakeCalls()
  calls.answers.set("/endless", () => Effect.never)
  for (let account = 1; account <= accounts; account++) {
    const workspace = yield* insertWorkspaceIn(deriveLane(account))
    yield* insertTasks(workspace, { count: 30, url: `http://${account}.test/endless` })
    yield* enqueueAll(workspace)
  }
  return yield* Effect.gen(function* () {
    const queue = yield* RunQueue
    yield* Effect.sleep("5 seconds")
    const waitedMs: Array<number> = []
    for (let newcomer = 0; newcomer < 100; newcomer++) {
      const workspace_id = yield* insertWorkspace
      const task_id = yield* insertTask(workspace_id, { url: urlOf("/short") })
      yield* queue.enqueue({ workspace_id, task_id, kind: "cron" })
      const [row] = yield* eventually(readExecutions(workspace_id), (rows) => rows.length > 0)
      waitedMs.push((row?.started_at?.getTime() ?? 0) - (row?.scheduled_for.getTime() ?? 0))
    }
    waitedMs.sort((a, b) => a - b)
    return {
      hanging: calls.to("/endless").length,
      p50_p99_max: [50, 98, 99].map((at) => waitedMs[at])
    }
  }).pipe(Effect.provide(nodeLayer(calls.layer, { stopMs: 100 })))
})

/**
 * Measures how long it takes to roll up the last hour's executions, and the longest transaction.
 * The tasks fired once a minute for half an hour, which results in the highest number of rows.
 */
const statistics = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const partitions = yield* Effect.provide(Partitions, Partitions.layer)
  yield* partitions.maintain(30)
  const [start] = yield* sql<{
    readonly at: string
  }>`SELECT (now() - interval '45 minutes')::text AS at`
  const chunk = 200_000
  for (let from = 0; from < count; from += chunk) {
    yield* sql`
      INSERT INTO executions (
        id, workspace_id, task_id, kind, trigger, status, scheduled_for, started_at, finished_at,
        lateness_ms, duration_ms, attempts_count, status_code
      )
      SELECT
        (left(hex, 8) || '-' || right(hex, 4) || '-7' || right(gen_random_uuid()::text, 21))::uuid,
        md5('workspace ' || task % 100)::uuid, md5('task ' || task)::uuid, 'cron', 'schedule',
        'succeeded', due, due, due, random() * 20, exp(random() * 8), 1, 200
      FROM (
        SELECT
          n % ${Math.ceil(count / 30)} AS task, due,
          lpad(to_hex((extract(epoch FROM due) * 1000)::bigint), 12, '0') AS hex
        FROM generate_series(${from + 1}::int, ${Math.min(count, from + chunk)}::int) AS n
        CROSS JOIN LATERAL (
          SELECT ${start?.at}::timestamptz + n * (interval '30 minutes' / ${count}) AS due
        ) AS moment
      ) AS run`
  }
  yield* sql`ANALYZE executions`
  const piecesMs: Array<number> = []
  const timed = Layer.effect(
    StatsRollUpRepo,
    Effect.map(StatsRollUpRepo, (repo) => ({
      ...repo,
      takeIn: (piece: Parameters<typeof repo.takeIn>[0]) =>
        Effect.map(Effect.timed(repo.takeIn(piece)), ([took, tookIn]) => {
          piecesMs.push(Duration.toMillis(took))
          return tookIn
        })
    }))
  ).pipe(Layer.provide(StatsRollUpRepo.layer))
  const before = performance.now()
  const [stats] = yield* eventually(
    sql<{ readonly taken_in: string; readonly rows: number }>`
      SELECT
        (SELECT sum(succeeded) FROM execution_stats WHERE task_id IS NULL) AS taken_in,
        (SELECT count(*)::int FROM execution_stats) AS rows`,
    ([row]) => Number(row?.taken_in) === count,
    5_000
  ).pipe(
    Effect.provide(
      StatsRollUpLayer.pipe(Layer.provide([timed, Layer.succeed(AppConfig, testConfig)]))
    )
  )
  return {
    ...stats,
    seconds: (performance.now() - before) / 1_000,
    pieces: piecesMs.length,
    longest_ms: Math.max(...piecesMs)
  }
})

const measurements: Readonly<
  Record<string, () => Effect.Effect<unknown, unknown, Database | Scope.Scope>>
> = {
  drain: () => drain(Number(size ?? 20_000)),
  calls: () => calls(Number(size ?? 20_000)),
  burst: () => burst(Number(size ?? 5_000)),
  steady: () => steady(Number(size ?? 60_000)),
  seconds: () => seconds(Number(size ?? 10_000)),
  idle: () => idle(Number(size ?? 1_000)),
  backlog: () => backlog(Number(size ?? 100_000)),
  newcomers: () => newcomers(Number(size ?? 200)),
  stop: () => stop(Number(size ?? 500_000)),
  statistics: () => statistics(Number(size ?? 2_000_000))
}

const measure = measurements[what]
if (measure === undefined) throw new Error(`one of ${Object.keys(measurements).join(", ")}`)

await Effect.gen(function* () {
  const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
  const result = yield* measure().pipe(Effect.provide(databaseLayer(url)))
  yield* Effect.sync(() => console.log(what, result))
}).pipe(Effect.scoped, Effect.runPromise)
