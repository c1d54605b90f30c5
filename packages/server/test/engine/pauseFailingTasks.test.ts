import type { FiringOptions } from "@scheduling/domain/cron/FiringOptions"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { nodeLayer } from "./runner/support/engine.ts"
import { failingWith, makeFakeCalls, urlOf } from "./runner/support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace,
  callStep,
  readRuns
} from "./runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const calls = makeFakeCalls()

const OneNode = nodeLayer(calls.layer).pipe(Layer.provideMerge(TestDatabaseLayer))

/** Creates a task whose calls fail while `broken` is true. */
const setUp = Effect.fnUntraced(function* (
  path: string,
  options: FiringOptions,
  fields: Parameters<typeof insertTask>[1] = {}
) {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* RunQueue
  const workspace = yield* insertWorkspace
  const task_id = yield* insertTask(workspace, { url: urlOf(path), ...fields })
  yield* sql`
    UPDATE tasks
    SET firing_options = ${JSON.stringify(options)}
    WHERE id = ${task_id}`
  const state = { broken: true }
  calls.answers.set(path, (request) =>
    Effect.suspend(() => (state.broken ? failingWith(500)(request) : Effect.succeed({})))
  )
  const isIdle = eventually(readRuns(workspace), (rows) => rows.length === 0)
  return {
    workspace,
    task_id,
    state,
    /** Runs the task the given number of times, one run after another. */
    run: (times: number) =>
      Effect.repeat(
        Effect.andThen(
          queue.enqueue({ workspace_id: workspace, task_id, kind: fields.kind ?? "cron" }),
          isIdle
        ),
        { times: times - 1 }
      ),
    task: stateOf(workspace, task_id)
  }
})

const stateOf = (workspace: AuthorizedWorkspaceId, taskId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [task] = yield* sql<{
      readonly status: string
      readonly paused_reason: string | null
      readonly next_fire_at: Date | null
      readonly announced: ReadonlyArray<unknown>
    }>`
      SELECT
        status, paused_reason, next_fire_at,
        (
          SELECT coalesce(json_agg(data), '[]')
          FROM outbox
          WHERE outbox.workspace_id = tasks.workspace_id
            AND subject_id = tasks.id
            AND event = 'task.paused'
        ) AS announced
      FROM tasks
      WHERE workspace_id = ${workspace}
        AND id = ${taskId}`
    return task ?? assert.fail("no task")
  })

const active = { status: "active", paused_reason: null, announced: [] }

const paused = (failures: number, task: { readonly id: string; readonly kind: string }) => {
  const reason = `it failed ${failures} times in a row`
  return {
    status: "paused",
    paused_reason: reason,
    next_fire_at: null,
    announced: [{ name: "task", reason, about: { execution: null, task } }]
  }
}

layer(OneNode, { excludeTestServices: true })("a task that fails", (it) => {
  it.effect("is paused at its limit of consecutive failures, and its recipients are notified", () =>
    Effect.gen(function* () {
      const { run, task, task_id } = yield* setUp(
        "/broken",
        { pause_after_failures: 3 },
        { fires_in: 3_600_000 }
      )
      yield* run(2)
      assert.deepInclude(yield* task, active)
      yield* run(1)
      yield* eventually(task, ({ status }) => status === "paused")
      assert.deepStrictEqual(yield* task, paused(3, { id: task_id, kind: "cron" }))
      // Manual runs are allowed while the task is paused, and do not pause it again.
      yield* run(3)
      assert.deepStrictEqual(yield* task, paused(3, { id: task_id, kind: "cron" }))
    })
  )

  it.effect("continues if a run between succeeds, and by default", () =>
    Effect.gen(function* () {
      const flaky = yield* setUp("/flaky", { pause_after_failures: 2 })
      const silent = yield* setUp("/silent", {})
      yield* flaky.run(1)
      flaky.state.broken = false
      yield* flaky.run(1)
      flaky.state.broken = true
      yield* flaky.run(1)
      yield* silent.run(4)
      assert.deepInclude(yield* flaky.task, active)
      assert.deepInclude(yield* silent.task, active)
      yield* flaky.run(1)
      yield* eventually(flaky.task, ({ status }) => status === "paused")
    })
  )

  it.effect("starts counting again after a change", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { run, task, task_id } = yield* setUp("/changed", { pause_after_failures: 2 })
      yield* run(1)
      yield* sql`
        UPDATE tasks
        SET updated_at = now()
        WHERE id = ${task_id}`
      yield* run(1)
      assert.deepInclude(yield* task, active)
      yield* run(1)
      yield* eventually(task, ({ status }) => status === "paused")
    })
  )

  it.effect("counts one failure for each run of a chain, whichever step it was", () =>
    Effect.gen(function* () {
      const steps = [
        callStep("first", { url: urlOf("/chain") }),
        callStep("tidy", { url: urlOf("/tidy"), run_if: "always" })
      ]
      const chain = yield* setUp(
        "/chain",
        { pause_after_failures: 2 },
        { kind: "chain", steps, schedule: "0 0 1 1 *" }
      )
      yield* chain.run(1)
      assert.deepInclude(yield* chain.task, active)
      chain.state.broken = false
      yield* chain.run(1)
      chain.state.broken = true
      yield* chain.run(1)
      assert.deepInclude(yield* chain.task, active)
      yield* chain.run(1)
      yield* eventually(chain.task, ({ status }) => status === "paused")
      assert.deepStrictEqual(yield* chain.task, paused(2, { id: chain.task_id, kind: "chain" }))
      assert.lengthOf(yield* readExecutions(chain.workspace), 8)
    })
  )
})
