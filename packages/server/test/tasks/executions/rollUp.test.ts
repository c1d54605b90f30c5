// @tags slow
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { dayOf } from "@scheduling/domain/billing/Usage"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { authorize } from "../../../src/accounts/access/authorize.ts"
import { ExecutionStatsRepo } from "../../../src/tasks/executions/ExecutionStatsRepo.ts"
import { StatsRollUpRepo } from "../../../src/tasks/executions/StatsRollUpRepo.ts"
import { UsageRepo } from "../../../src/plans/UsageRepo.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { insertRuns, runAt } from "./history.ts"

const minute = 60_000

const TestLayer = Layer.mergeAll(
  StatsRollUpRepo.layer,
  ExecutionStatsRepo.layer,
  UsageRepo.layer
).pipe(Layer.provideMerge(TestDatabaseLayer))

const insertExecutions = (workspace_id: string, count: number, agoMs = minute) =>
  insertRuns(Array.from({ length: count }, () => runAt(Date.now() - agoMs, { workspace_id })))

const progress = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly rolled_up_to: number }>`
    SELECT rolled_up_to::int
    FROM execution_stats_progress`
).pipe(Effect.map(([row]) => row?.rolled_up_to ?? assert.fail("no progress")))

const takeInAll = Effect.gen(function* () {
  const repo = yield* StatsRollUpRepo
  const upTo = yield* repo.settledOrdinal
  while (yield* repo.takeIn({ upTo, size: 1_000 }));
  while ((yield* repo.countUsage({ upTo, size: 1_000 })) !== undefined);
})

/** Reads all rolled-up statistics of a workspace. */
const rolledUp = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly succeeded: number }>`
      SELECT coalesce(sum(succeeded), 0)::int AS succeeded
      FROM execution_stats
      WHERE workspace_id = ${workspaceId}
        AND task_id IS NULL`
  ).pipe(Effect.map(([row]) => row?.succeeded))

/** Returns the statistics and the usage that the API reports. */
const counted = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
  const repo = yield* ExecutionStatsRepo
  const now = Date.now()
  const range = { from: new Date(now - 1_440 * minute), to: new Date(now), bucket: "day" } as const
  return (yield* repo.list(workspaceId, range)).reduce((sum, row) => sum + row.succeeded, 0)
})

const used = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
  const repo = yield* UsageRepo
  const rows = yield* repo.list(workspaceId, dayOf(Date.now() - 1_440 * minute), dayOf(Date.now()))
  return rows.reduce((sum, row) => sum + row.executions, 0)
})

layer(TestLayer, { excludeTestServices: true })("rolling up statistics", (it) => {
  it.effect("rolls up one piece at a time, and commits each", () =>
    Effect.gen(function* () {
      const repo = yield* StatsRollUpRepo
      const workspace = authorize(randomUUID())
      yield* takeInAll
      const before = yield* progress
      yield* insertExecutions(workspace, 250)
      const upTo = yield* repo.settledOrdinal
      for (const [tookIn, taken] of [
        [true, 100],
        [true, 200],
        [true, 250],
        [false, 250]
      ] as const) {
        assert.strictEqual(yield* repo.takeIn({ upTo, size: 100 }), tookIn)
        assert.strictEqual((yield* progress) - before, taken)
        assert.strictEqual(yield* rolledUp(workspace), taken)
        assert.strictEqual(yield* counted(workspace), 250)
        assert.strictEqual(yield* used(workspace), 250)
      }
    })
  )

  it.effect("counts executions that made a call as usage of the day on which they finished", () =>
    Effect.gen(function* () {
      const repo = yield* UsageRepo
      const workspace = authorize(randomUUID())
      const midnight = Date.parse(dayOf(Date.now()))
      yield* insertRuns([
        runAt(midnight - 1, { workspace_id: workspace }),
        runAt(midnight, { workspace_id: workspace, status: "failed" }),
        runAt(midnight + 1, { workspace_id: workspace, status: "cancelled" }),
        runAt(midnight + 2, { workspace_id: workspace, status: "cancelled", attempts_count: 0 }),
        runAt(midnight + 3, { workspace_id: workspace, status: "skipped" })
      ])
      const executions = Effect.map(
        repo.list(workspace, dayOf(midnight - 1), dayOf(midnight)),
        (rows) => rows.map((row) => row.executions)
      )
      assert.deepStrictEqual(yield* executions, [1, 2])
      yield* takeInAll
      assert.deepStrictEqual(yield* executions, [1, 2])
      assert.strictEqual(yield* repo.countExecutionsSince(workspace, dayOf(midnight)), 2)
    })
  )

  it.effect("counts usage apart from statistics, for each workspace", () =>
    Effect.gen(function* () {
      const repo = yield* StatsRollUpRepo
      const usage = yield* UsageRepo
      const [first, second] = [authorize(randomUUID()), authorize(randomUUID())]
      yield* takeInAll
      yield* insertExecutions(first, 120)
      yield* insertExecutions(second, 30)
      const upTo = yield* repo.settledOrdinal
      const since = dayOf(Date.now() - 1_440 * minute)
      for (const [whose, counts] of [
        [[first], [100, 0]],
        [
          [first, second],
          [120, 30]
        ],
        [undefined, [120, 30]]
      ] as const) {
        const counted = yield* repo.countUsage({ upTo, size: 100 })
        assert.deepStrictEqual(counted?.toSorted(), whose?.toSorted())
        for (const [index, workspace] of [first, second].entries()) {
          const count = yield* usage.countExecutionsSince(workspace, since)
          assert.strictEqual(count, counts[index])
          // Executions that have not been rolled up yet are read as rows.
          assert.strictEqual(yield* used(workspace), counts.at(index) === 0 ? 30 : [120, 30][index])
        }
        assert.strictEqual(yield* rolledUp(first), 0)
      }
    })
  )

  it.effect("reports its lag", () =>
    Effect.gen(function* () {
      const repo = yield* StatsRollUpRepo
      yield* takeInAll
      assert.strictEqual(yield* repo.lagSeconds, 0)
      yield* insertExecutions(randomUUID(), 1, 10 * minute)
      yield* insertExecutions(randomUUID(), 1, 5 * minute)
      const lag = yield* repo.lagSeconds
      assert.isTrue(lag >= 600 && lag < 660, String(lag))
      yield* takeInAll
      assert.strictEqual(yield* repo.lagSeconds, 0)
    })
  )

  it.effect("removes statistics that are older than the history", () =>
    Effect.gen(function* () {
      const repo = yield* StatsRollUpRepo
      const workspace = authorize(randomUUID())
      const old = Date.now() - 40 * 1_440 * minute
      const hour = new Date(old - (old % (60 * minute)))
      yield* insertRuns([runAt(hour.getTime(), { workspace_id: workspace })])
      yield* insertExecutions(workspace, 2)
      yield* takeInAll
      yield* repo.removeOlderThan(30)
      assert.strictEqual(yield* rolledUp(workspace), 2)
      // The execution's row may still exist, but it must not be subtracted from an hour that has
      // been removed.
      const stats = yield* ExecutionStatsRepo
      const from = new Date(hour.getTime() + minute)
      const to = new Date(hour.getTime() + 180 * minute)
      const rows = yield* stats.list(workspace, { from, to, bucket: "hour" })
      assert.isTrue(rows.every((row) => row.succeeded === 0))
    })
  )
})

/** The embedded store has one session, so transactions cannot overlap. */
describe.skipIf(!onPostgres)("rolling up statistics", () => {
  layer(TestLayer, { excludeTestServices: true })((it) => {
    it.effect("waits for executions that were recorded earlier but committed later", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const workspace = authorize(randomUUID())
        const isWritten = yield* Latch.make()
        const mayCommit = yield* Latch.make()
        // `insertRuns` cannot be used, because its transaction would prevent other transactions
        // from creating partitions.
        const record = sql`
          INSERT INTO executions (
            id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at,
            attempts_count
          )
          VALUES (
            ${makeRunId(Date.now(), Date.now())}, ${workspace}, ${workspace}, 'cron', 'schedule',
            'succeeded', now() - interval '1 minute', now(), 1
          )`
        const slow = yield* record.pipe(
          Effect.andThen(isWritten.open),
          Effect.andThen(mayCommit.await),
          sql.withTransaction,
          Effect.forkChild
        )
        yield* isWritten.await
        yield* insertExecutions(workspace, 1)
        const rollUp = yield* Effect.forkChild(takeInAll)
        yield* Effect.sleep("2 seconds")
        assert.strictEqual(yield* rolledUp(workspace), 0)
        yield* mayCommit.open
        yield* Fiber.joinAll([slow, rollUp])
        assert.strictEqual(yield* rolledUp(workspace), 2)
        assert.strictEqual(yield* counted(workspace), 2)
      })
    )
  })
})
