// @tags alone
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ChildProcess } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { admitAheadMs } from "../../../src/engine/transitions/admit.ts"
import { startNode } from "../runner/support/processes.ts"
import { eventually, insertTask, insertWorkspace } from "../runner/support/tasks.ts"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"
import { enqueueOverdue, CallsInProgress, insertQueue, setQueue } from "./queues.ts"

/** Real processes on a real server. The tests run in order and share these nodes. */
class Cluster extends Context.Service<
  Cluster,
  { readonly url: string; readonly first: ChildProcess; readonly second: ChildProcess }
>()("@scheduling/server/test/queue/admitting/Cluster") {}

const options = { concurrency: 200, leaseMs: 2_000 }

const ClusterLayer = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
    const nodes = Effect.all([startNode(url, options), startNode(url, options)], { concurrency: 2 })
    return Layer.effect(
      Cluster,
      Effect.map(nodes, ([first, second]) => Cluster.of({ url, first, second }))
    ).pipe(Layer.provideMerge(databaseLayer(url, 3)))
  })
)

/** Starts a server that continues processing a call after its caller has disconnected. */
const startWorking = (msOf: (call: number) => number) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly url: string
      readonly gauge: CallsInProgress
      readonly close: () => void
    }>((resume) => {
      const gauge = new CallsInProgress()
      const server = createServer((request, response) => {
        gauge.begin()
        request.resume()
        setTimeout(() => {
          gauge.end()
          response.end("ok")
        }, msOf(gauge.began.length))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/`, gauge, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const queuedTask = Effect.fnUntraced(function* (
  url: string,
  limits: Parameters<typeof insertQueue>[1]
) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* insertWorkspace
  const queueId = yield* insertQueue(workspace, limits)
  const task = yield* insertTask(workspace, { url })
  yield* setQueue([task], queueId)
  yield* sql`
    UPDATE tasks
    SET timeout_seconds = 1
    WHERE id = ${task}`
  return { workspace, task }
})

const left = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly left: number }>`
      SELECT count(*)::int AS left
      FROM runs
      WHERE workspace_id = ${workspaceId}`
  ).pipe(Effect.map(([row]) => row?.left ?? 0))

const succeeded = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly runs: number }>`
      SELECT count(*)::int AS runs
      FROM executions
      WHERE workspace_id = ${workspaceId}
        AND status = 'succeeded'`
  ).pipe(Effect.map(([row]) => row?.runs ?? 0))

/** Polls for up to five minutes. */
const patiently = 15_000

/** Some calls take longer, so that the test notices calls that must not overlap. */
const mostlyFast = (call: number) => (call % 50 === 0 ? 50 : 1)

describe.skipIf(testDatabaseUrl === undefined)("named queues of two nodes", () => {
  layer(ClusterLayer, { excludeTestServices: true })((it) => {
    it.effect(
      "never have a third active run among 10,000 overdue ones, although one node is killed and one frozen",
      () =>
        Effect.gen(function* () {
          const { first, second, url } = yield* Cluster
          const { gauge, url: target } = yield* startWorking(mostlyFast)
          const { task, workspace } = yield* queuedTask(target, { max_concurrency: 2 })
          // Nodes check each other once their sessions have been healthy for three seconds.
          yield* Effect.sleep(3_000)
          yield* enqueueOverdue(task, 10_000)
          yield* eventually(left(workspace), (runs) => runs < 6_000, patiently)
          first.removeAllListeners("exit")
          first.kill("SIGKILL")
          yield* startNode(url, options)
          yield* eventually(left(workspace), (runs) => runs < 4_000, patiently)
          second.kill("SIGSTOP")
          yield* eventually(left(workspace), (runs) => runs < 2_000, patiently)
          second.kill("SIGCONT")
          yield* eventually(left(workspace), (runs) => runs === 0, patiently)
          assert.strictEqual(yield* succeeded(workspace), 10_000)
          assert.strictEqual(gauge.most, 2)
          // The calls in flight on the killed node and on the frozen node were repeated.
          assert.isAtMost(gauge.began.length, 10_000 + 4)
        }),
      320_000
    )

    it.effect("begin no more calls than their rate allows", () =>
      Effect.gen(function* () {
        const { gauge, url: target } = yield* startWorking(() => 5)
        const { task, workspace } = yield* queuedTask(target, { rate_per_second: 40 })
        yield* enqueueOverdue(task, 160)
        yield* eventually(left(workspace), (runs) => runs === 0)
        const took = (gauge.began.at(-1) ?? 0) - (gauge.began[0] ?? 0)
        // Runs are admitted ahead of time, so a delayed call can be closer to the next one by up to
        // that time.
        assert.isAtLeast(took, (159 * 1_000) / 40 - admitAheadMs)
        assert.isAtMost(gauge.mostWithin(2_000), 40 * (2 + admitAheadMs / 1_000) + 1)
      })
    )
  })
})
