// @tags alone
import { flowDefaults } from "@scheduling/domain/queues/Flow"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ChildProcess } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { flowPartsOf, deleteUnusedFlows } from "../../../src/engine/queues/flows.ts"
import { enqueue } from "../../../src/engine/transitions/enqueue.ts"
import { startNode } from "../runner/support/processes.ts"
import { eventually, readExecutions, insertTask, insertWorkspace } from "../runner/support/tasks.ts"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"
import { CallsInProgress } from "./queues.ts"

class Cluster extends Context.Service<
  Cluster,
  { readonly url: string; readonly first: ChildProcess; readonly second: ChildProcess }
>()("@scheduling/server/test/engine/queues/FlowCluster") {}

const options = { concurrency: 200, leaseMs: 4_000 }

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

interface Call {
  readonly id: string
  readonly key: string
}

/**
 * Starts a server that continues processing a call after its caller has disconnected. Every fifth
 * run fails once.
 */
const startWorking = Effect.acquireRelease(
  Effect.callback<{
    readonly url: string
    readonly began: ReadonlyArray<Call>
    readonly gauges: ReadonlyMap<string, CallsInProgress>
    readonly all: CallsInProgress
    readonly close: () => void
  }>((resume) => {
    const began: Array<Call> = []
    const failed = new Set<string>()
    const gauges = new Map<string, CallsInProgress>()
    const all = new CallsInProgress()
    const server = createServer((request, response) => {
      const id = String(request.headers["idempotency-key"])
      const key = request.url ?? ""
      const gauge = gauges.get(key) ?? new CallsInProgress()
      gauges.set(key, gauge)
      const fails = !failed.has(id) && began.filter((call) => call.id === id).length === 0
      const failsNow = fails && began.length % 5 === 0
      if (failsNow) failed.add(id)
      began.push({ id, key })
      gauge.begin()
      all.begin()
      request.resume()
      setTimeout(() => {
        gauge.end()
        all.end()
        response.statusCode = failsNow ? 503 : 200
        response.setHeader("retry-after", "0")
        response.end("ok")
      }, 10)
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, began, gauges, all, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const left = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly left: number }>`
      SELECT count(*)::int AS left
      FROM runs
      WHERE workspace_id = ${workspaceId}`
  ).pipe(Effect.map(([row]) => row?.left ?? 0))

/** Polls for up to five minutes. */
const patiently = 15_000

const keys = ["a", "b", "c"]
const runsOfKey = 60

describe.skipIf(testDatabaseUrl === undefined)("flows of two nodes", () => {
  layer(ClusterLayer, { excludeTestServices: true })((it) => {
    it.effect(
      "never run two calls of a key at once or out of order, although one node is killed and one frozen",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { first, second, url } = yield* Cluster
          const target = yield* startWorking
          const workspace_id = yield* insertWorkspace
          const task_id = yield* insertTask(workspace_id, {
            url: `${target.url}/{{ input.key }}`,
            retry_count: 3
          })
          const key = "of {{ input.key }}"
          const flow = { ...flowDefaults, key, max_concurrency: 1, fifo: true }
          yield* sql`
            UPDATE tasks
            SET
              timeout_seconds = 1,
              flow = ${JSON.stringify(flow)}::jsonb,
              flow_parts = ${JSON.stringify(flowPartsOf(key))}::jsonb
            WHERE id = ${task_id}`
          // Nodes check each other once their sessions have been healthy for three seconds.
          yield* Effect.sleep(3_000)
          const run = {
            workspace_id,
            task_id,
            kind: "cron",
            trigger: "manual",
            run_at: null
          } as const
          const added: Array<string> = []
          for (let n = 0; n < runsOfKey; n++) {
            for (const one of keys) {
              const { id } = (yield* enqueue(sql, { ...run, input: { key: one } })) ?? { id: "" }
              added.push(id)
            }
          }
          const many = keys.length * runsOfKey
          yield* eventually(left(workspace_id), (runs) => runs < many * 0.8, patiently)
          first.removeAllListeners("exit")
          first.kill("SIGKILL")
          yield* startNode(url, options)
          yield* eventually(left(workspace_id), (runs) => runs < many * 0.6, patiently)
          second.kill("SIGSTOP")
          yield* eventually(left(workspace_id), (runs) => runs < many * 0.3, patiently)
          second.kill("SIGCONT")
          yield* eventually(left(workspace_id), (runs) => runs === 0, patiently)
          const rows = yield* readExecutions(workspace_id)
          assert.lengthOf(rows, many)
          assert.isTrue(rows.every(({ status }) => status === "succeeded"))
          assert.isTrue(rows.some(({ attempts_count }) => attempts_count > 1))
          for (const one of keys) {
            assert.strictEqual(target.gauges.get(`/${one}`)?.most, 1)
            const order = target.began
              .filter((call) => call.key === `/${one}`)
              .map(({ id }) => added.indexOf(id))
            const early = order.findIndex((run, at) => run < (order[at - 1] ?? 0))
            assert.strictEqual(early, -1, `${order.slice(Math.max(early - 5, 0), early + 5)}`)
          }
          assert.isAbove(target.all.most, 1)
          yield* deleteUnusedFlows(sql)
          const rest = yield* sql`
            SELECT id
            FROM queues
            WHERE flow_workspace_id = ${workspace_id}`
          assert.isEmpty(rest)
        }),
      320_000
    )
  })
})
