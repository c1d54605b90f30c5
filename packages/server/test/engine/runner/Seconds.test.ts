// @tags alone
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { databaseLayer, freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"
import { startNode, startSink } from "./support/processes.ts"
import { eventually, readExecutions, insertTask, insertWorkspace } from "./support/tasks.ts"

const everyMs = 5_000

describe.skipIf(testDatabaseUrl === undefined)("a schedule with seconds", () => {
  it.live(
    "fires each of its slots once, on two nodes of which one is killed",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const options = { leaseMs: 2_000 }
          const [first] = yield* Effect.all([startNode(url, options), startNode(url, options)], {
            concurrency: 2
          })
          const sink = yield* startSink(() => 0)
          const workspace = yield* insertWorkspace
          const schedule = "*/5 * * * * *"
          const task = { url: sink.url, schedule, overlap: "allow", fires_in: 0 } as const
          yield* insertTask(workspace, task)
          yield* sql`
            UPDATE tasks
            SET next_fire_at = date_trunc('minute', now()) + interval '5 seconds'
              + floor(extract(second FROM now()) / 5) * interval '5 seconds'`
          const ended = (count: number) =>
            eventually(readExecutions(workspace), (rows) => rows.length >= count, 1_500)
          yield* ended(2)
          first.removeAllListeners("exit")
          first.kill("SIGKILL")
          const rows = yield* ended(6)
          const slots = rows.map(({ scheduled_for }) => scheduled_for.getTime())
          const [start = 0] = slots
          assert.strictEqual(start % everyMs, 0)
          assert.deepStrictEqual(
            slots,
            slots.map((_, index) => start + index * everyMs)
          )
          assert(rows.every(({ status }) => status === "succeeded"))
          // The killed node's runs start when the other nodes notice that it is dead. All other
          // runs start on time.
          const late = rows.filter(({ lateness_ms }) => (lateness_ms ?? Infinity) > 1_000)
          assert.isAtMost(late.length, 1)
          assert.strictEqual(Math.max(...sink.calls.values()), 1)
        }).pipe(Effect.provide(databaseLayer(url, 3)))
      }),
    60_000
  )
})
