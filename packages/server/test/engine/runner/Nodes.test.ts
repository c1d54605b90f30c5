// @tags alone
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { dayOf } from "@scheduling/domain/billing/Usage"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ChildProcess } from "node:child_process"
import { StatsRollUpRepo } from "../../../src/tasks/executions/StatsRollUpRepo.ts"
import { UsageRepo } from "../../../src/plans/UsageRepo.ts"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"
import { waitForExit, startNode, startSink } from "./support/processes.ts"
import {
  enqueueAll,
  eventually,
  insertTasks,
  insertWorkspace,
  yearlySchedule
} from "./support/tasks.ts"

/** Real processes on a real server. The tests run in order and share these nodes. */
class Cluster extends Context.Service<
  Cluster,
  {
    readonly url: string
    readonly first: ChildProcess
    readonly second: ChildProcess
  }
>()("@scheduling/server/test/runner/Cluster") {}

const options = { concurrency: 200, leaseMs: 2_000 }

const ClusterLayer = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
    const nodes = Effect.all([startNode(url, options), startNode(url, options)], { concurrency: 2 })
    return Layer.effect(
      Cluster,
      Effect.map(nodes, ([first, second]) => Cluster.of({ url, first, second }))
    ).pipe(
      Layer.merge(Layer.merge(StatsRollUpRepo.layer, UsageRepo.layer)),
      Layer.provideMerge(databaseLayer(url, 3))
    )
  })
)

const totals = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{
      readonly executions: number
      readonly tasks: number
      readonly succeeded: number
      readonly running: number
      readonly unfinished: number
    }>`
      SELECT
        count(*) FILTER (WHERE state IS NULL)::int AS executions,
        count(DISTINCT task_id) FILTER (WHERE state IS NULL)::int AS tasks,
        count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded,
        count(*) FILTER (WHERE state = 'running')::int AS running,
        count(*) FILTER (WHERE state IS NOT NULL)::int AS unfinished
      FROM (
        SELECT task_id, status, NULL AS state
        FROM executions
        WHERE workspace_id = ${workspaceId}
        UNION ALL
        SELECT task_id, NULL, state
        FROM runs
        WHERE workspace_id = ${workspaceId}
      ) AS all_runs`
  ).pipe(
    Effect.map(([row]) => {
      assert(row !== undefined)
      return row
    })
  )

/** Counts the nodes that have more calls in flight than they can process at the same time. */
const busyNodes = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      SELECT lease_owner
      FROM runs
      WHERE workspace_id = ${workspaceId}
        AND state = 'running'
      GROUP BY lease_owner
      HAVING count(*) >= 50`
  ).pipe(Effect.map((owners) => owners.length))

const liveNodes = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT id
    FROM nodes
    WHERE died_at IS NULL
      AND lease_until > now()`
)

/** Rolls up new executions in small batches. */
const meter = Effect.gen(function* () {
  const repo = yield* StatsRollUpRepo
  const upTo = yield* repo.settledOrdinal
  while (yield* repo.takeIn({ upTo, size: 100 }));
  while ((yield* repo.countUsage({ upTo, size: 100 })) !== undefined);
})

/** Repeatedly interrupts the roll-up, as if nodes were killed during it. */
const meterAgainAndAgain = Effect.forever(
  Effect.all([meter, Effect.timeoutOption(meter, "1100 millis")], { concurrency: 2 })
)

const metered = Effect.fnUntraced(function* (workspaceId: AuthorizedWorkspaceId) {
  const repo = yield* UsageRepo
  const now = Date.now()
  const rows = yield* repo.list(workspaceId, dayOf(now - 86_400_000), dayOf(now + 86_400_000))
  return rows.reduce((sum, row) => sum + row.executions, 0)
})

const all = (count: number) => ({ executions: count, tasks: count, succeeded: count })

const repeated = (calls: ReadonlyMap<string, number>) =>
  [...calls.values()].filter((count) => count > 1).length

describe.skipIf(testDatabaseUrl === undefined)("nodes", () => {
  layer(ClusterLayer, { excludeTestServices: true })((it) => {
    it.effect("fire each of 8,000 slots once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sink = yield* startSink(() => 0)
        const workspace = yield* insertWorkspace
        yield* insertTasks(workspace, { count: 8_000, url: sink.url, schedule: yearlySchedule })
        yield* sql`
          UPDATE tasks
          SET next_fire_at = now() + random() * interval '2 seconds'
          WHERE workspace_id = ${workspace}`
        const after = yield* eventually(totals(workspace), (row) => row.executions >= 8_000)
        assert.deepInclude(after, all(8_000))
        assert.strictEqual(sink.calls.size, 8_000)
        assert.strictEqual(repeated(sink.calls), 0)
      })
    )

    it.effect(
      "continue when all connections are cut again and again, and lose and repeat nothing",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* startSink(() => 20)
          const workspace = yield* insertWorkspace
          yield* insertTasks(workspace, { count: 4_000, url: sink.url })
          yield* enqueueAll(workspace)
          for (let cut = 0; cut < 5; cut++) {
            yield* Effect.sleep(200)
            yield* sql`
            SELECT pg_terminate_backend(pid)
            FROM pg_stat_activity
            WHERE datname = current_database()
              AND pid <> pg_backend_pid()`
          }
          const after = yield* eventually(totals(workspace), (row) => row.unfinished === 0)
          assert.deepInclude(after, all(4_000))
          assert.strictEqual(repeated(sink.calls), 0)
          assert.strictEqual((yield* liveNodes).length, 2)
        })
    )

    it.effect("lose no run when one is killed, and repeat at most what it had in flight", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { first } = yield* Cluster
        const sink = yield* startSink(() => 200)
        const workspace = yield* insertWorkspace
        yield* insertTasks(workspace, { count: 3_000, url: sink.url })
        // Nodes check each other once their sessions have been healthy for three seconds.
        yield* Effect.sleep(2_000)
        yield* enqueueAll(workspace)
        const metering = yield* Effect.forkChild(meterAgainAndAgain)
        yield* eventually(busyNodes(workspace), (nodes) => nodes === 2)
        first.removeAllListeners("exit")
        first.kill("SIGKILL")
        const killedAt = performance.now()
        const { running } = yield* totals(workspace)
        yield* eventually(
          sql`
            SELECT execution_id
            FROM attempts
            WHERE workspace_id = ${workspace}
              AND number = 2`,
          (rows) => rows.length > 0
        )
        assert.isBelow(performance.now() - killedAt, 10_000)
        const after = yield* eventually(totals(workspace), (row) => row.unfinished === 0)
        assert.deepInclude(after, all(3_000))
        assert.isAtMost(repeated(sink.calls), running)
        assert.isAtMost(Math.max(...sink.calls.values()), 2)
        yield* Fiber.interrupt(metering)
        assert.strictEqual(yield* metered(workspace), 3_000)
        yield* meter
        assert.strictEqual(yield* metered(workspace), 3_000)
      })
    )

    it.effect("finish no run twice when one was frozen, and the thawed one continues", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { second: frozen, url } = yield* Cluster
        const sink = yield* startSink(() => 300)
        const workspace = yield* insertWorkspace
        yield* insertTasks(workspace, { count: 400, url: sink.url })
        yield* enqueueAll(workspace)
        yield* eventually(
          Effect.sync(() => sink.open()),
          (open) => open > 100
        )
        frozen.kill("SIGSTOP")
        const third = yield* startNode(url, options)
        yield* eventually(totals(workspace), (row) => row.unfinished === 0)
        frozen.kill("SIGCONT")
        yield* eventually(liveNodes, (nodes) => nodes.length === 2)
        assert.deepInclude(yield* totals(workspace), all(400))
        const [answered] = yield* sql<{ readonly count: number }>`
          SELECT count(*)::int AS count
          FROM attempts
          WHERE workspace_id = ${workspace}
            AND status_code = 200`
        assert.strictEqual(answered?.count, 400)

        third.removeAllListeners("exit")
        third.kill("SIGTERM")
        yield* waitForExit(third)
        yield* enqueueAll(workspace)
        yield* eventually(totals(workspace), (row) => row.succeeded === 800)
      })
    )
  })
})
