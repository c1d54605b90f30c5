import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RunQueue } from "../../src/runner/RunQueue.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { nodeLayer } from "./support/engine.ts"
import { makeFakeCalls, urlOf } from "./support/fakeCalls.ts"
import {
  enqueueAll,
  eventually,
  history,
  insertTask,
  insertTasks,
  insertWorkspace,
  unfinished
} from "./support/tasks.ts"

const concurrency = 64

describe("workspaces whose calls never end", () => {
  it.live(
    "leave room for the runs of others, however long their own backlog",
    () =>
      Effect.gen(function* () {
        const calls = makeFakeCalls()
        calls.answers.set("/endless", () => Effect.never)
        yield* Effect.gen(function* () {
          const queue = yield* RunQueue
          for (let greedy = 0; greedy < 2; greedy++) {
            const workspace_id = yield* insertWorkspace
            yield* insertTasks(workspace_id, { count: 3 * concurrency, url: urlOf("/endless") })
            yield* enqueueAll(workspace_id)
            yield* queue.wake(new Date())
            yield* eventually(unfinished(workspace_id), (runs) =>
              runs.some(({ state }) => state === "running")
            )
          }
          for (let newcomer = 0; newcomer < 3; newcomer++) {
            const workspace_id = yield* insertWorkspace
            const task_id = yield* insertTask(workspace_id, { url: urlOf("/short") })
            yield* queue.enqueue({ workspace_id, task_id, kind: "cron" })
            const [execution] = yield* eventually(history(workspace_id), (rows) => rows.length > 0)
            assert.strictEqual(execution?.status, "succeeded")
          }
          assert.isBelow(calls.to("/endless").length, concurrency)
        }).pipe(Effect.provide(nodeLayer(calls.layer, { concurrency, stopMs: 100 })))
      }).pipe(Effect.provide(TestDatabaseLayer)),
    60_000
  )
})
