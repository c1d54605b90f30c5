import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { enqueue } from "../../../src/engine/transitions/enqueue.ts"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"
import { startNode, startSink } from "./support/processes.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace,
  callStep,
  readRuns
} from "./support/tasks.ts"

const kib = 1024

/**
 * If each run kept all of its chain's steps in memory, 300 runs of a 1 MB chain would need 300 MB.
 */
const heapMb = 160
const runs = 300
const steps = 50

describe.skipIf(testDatabaseUrl === undefined)("a node with little memory", () => {
  it.live(
    "runs hundreds of runs of the largest chain at once, and finishes them",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* startSink(() => 25_000)
          const workspace_id = yield* insertWorkspace
          const task_id = yield* insertTask(workspace_id, {
            kind: "chain",
            steps: Array.from({ length: steps }, (_, index) =>
              callStep(`s${index}`, { url: sink.url, body: `"${"x".repeat(20 * kib)}"` })
            )
          })
          yield* Effect.forEach(
            Array.from({ length: runs }),
            () =>
              enqueue(sql, {
                workspace_id,
                task_id,
                kind: "chain",
                trigger: "manual",
                run_at: null
              }),
            { discard: true }
          )
          const node = yield* startNode(url, {}, [`--max-old-space-size=${heapMb}`])
          yield* eventually(Effect.sync(sink.open), (open) => open === runs)
          sink.close()
          yield* eventually(readRuns(workspace_id), (left) => left.length === 0)
          const rows = yield* readExecutions(workspace_id)
          assert.strictEqual(rows.length, runs * steps)
          assert.strictEqual(rows.filter(({ status }) => status === "failed").length, runs)
          assert.isNull(node.exitCode)
        }).pipe(Effect.provide(databaseLayer(url, 2)))
      }),
    60_000
  )
})
