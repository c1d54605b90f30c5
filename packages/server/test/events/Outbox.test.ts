import { executionError } from "@scheduling/domain/executions/ExecutionError"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Outbox } from "../../src/events/Outbox.ts"
import type { TaskOfRun } from "../../src/engine/Run.ts"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { finish } from "../../src/engine/transitions/finish.ts"
import { RunQueueLayer } from "../engine/runner/support/engine.ts"
import { settlement } from "../engine/runner/support/settlement.ts"
import { insertTask, insertWorkspace, callStep } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { announcementData } from "../notifications/support/events.ts"

const insertChannel = Effect.fnUntraced(function* (workspace: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO notification_channels (
      id, workspace_id, name, kind, config, sealed_secrets, created_at, updated_at
    )
    VALUES (${randomUUID()}, ${workspace}, 'ops', 'webhook', '{}', '', now(), now())`
})

const outboxOf = Effect.fnUntraced(function* (workspace: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    readonly event: string
    readonly subject_id: string
    readonly data: Readonly<Record<string, unknown>>
  }>`
    SELECT event, subject_id, data
    FROM outbox
    WHERE workspace_id = ${workspace}
    ORDER BY ordinal`
})

const eventsOf = (workspace: string) =>
  Effect.map(outboxOf(workspace), (rows) => rows.map(({ event }) => event))

/** Finishes a run of this task with this status. */
const end = Effect.fnUntraced(function* (
  run: TaskOfRun & { readonly kind: "cron" | "delayed" },
  status: "succeeded" | "failed" | "cancelled" | "skipped" | null
) {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* RunQueue
  const { id } = yield* queue.enqueue(run)
  return yield* finish(sql, [
    settlement({
      id,
      workspace_id: run.workspace_id,
      status,
      retry_delay_ms: status === null ? 0 : null,
      error:
        status === "failed" || status === null
          ? executionError("connection", "connection refused")
          : null
    })
  ])
})

const setUp = Effect.gen(function* () {
  const workspace_id = yield* insertWorkspace
  const task_id = yield* insertTask(workspace_id)
  return { workspace_id, task_id, kind: "cron" as const }
})

layer(
  Layer.mergeAll(RunQueueLayer, Outbox.layer.pipe(Layer.provide(RunQueueLayer))).pipe(
    Layer.provideMerge(TestDatabaseLayer)
  ),
  { excludeTestServices: true }
)("The outbox", (it) => {
  it.effect("gets failures of cron tasks, which may open an incident without a channel", () =>
    Effect.gen(function* () {
      const run = yield* setUp
      assert.isTrue((yield* end(run, "failed")).announced)
      const [event] = yield* outboxOf(run.workspace_id)
      assert.containSubset(event, {
        event: "execution.failed",
        subject_id: run.task_id,
        data: {
          run: { kind: "cron", status: "failed", error: "connection: connection refused" }
        }
      })
    })
  )

  it.effect("gets a success only after a failure, and no other result", () =>
    Effect.gen(function* () {
      const run = yield* setUp
      yield* insertChannel(run.workspace_id)
      for (const status of ["succeeded", "cancelled", "skipped", null] as const) {
        assert.isFalse((yield* end(run, status)).announced, String(status))
      }
      const other = { ...run, task_id: yield* insertTask(run.workspace_id) }
      yield* end(other, "failed")
      yield* end(run, "succeeded")
      yield* end(other, "succeeded")
      assert.deepStrictEqual(yield* eventsOf(run.workspace_id), [
        "execution.failed",
        "task.recovered"
      ])
    })
  )

  it.effect("gets a success that is written together with the failure before it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      for (const [first, second] of [
        ["failed", "succeeded"],
        ["succeeded", "failed"]
      ] as const) {
        const run = yield* setUp
        yield* insertChannel(run.workspace_id)
        const { workspace_id } = run
        // The run that was queued first finishes last.
        const later = (yield* queue.enqueue(run)).id
        const sooner = (yield* queue.enqueue(run)).id
        const now = Date.now()
        yield* finish(sql, [
          settlement({ id: later, workspace_id, status: second, finished_ms: now + 20 }),
          settlement({ id: sooner, workspace_id, status: first, finished_ms: now + 10 })
        ])
        const events = { failed: "execution.failed", succeeded: "task.recovered" }
        assert.deepStrictEqual(yield* eventsOf(workspace_id), [events[first], events[second]])
      }
    })
  )

  it.effect("gets a success of a subject that has an open problem", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const run = yield* setUp
      yield* insertChannel(run.workspace_id)
      yield* sql`
        INSERT INTO problems (subject_id, workspace_id, event, failures, since, tags, data)
        VALUES (${run.task_id}, ${run.workspace_id}, 'execution.failed', 1, now(), '{}', '{}')`
      yield* end(run, "succeeded")
      assert.deepStrictEqual(yield* eventsOf(run.workspace_id), ["task.recovered"])
    })
  )

  it.effect("gets one event of a chain run, when its last step has finished", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      const { workspace_id } = yield* setUp
      yield* insertChannel(workspace_id)
      const chain = yield* insertTask(workspace_id, {
        kind: "chain",
        steps: [callStep("first"), callStep("then"), callStep("clean", { run_if: "always" })]
      })
      const [version] = yield* sql<{ readonly version_id: string }>`
        SELECT version_id
        FROM tasks
        WHERE id = ${chain}`
      const queued = yield* queue.enqueue({ workspace_id, task_id: chain, kind: "chain" })
      const position = {
        chain_run_id: queued.id,
        version_id: version?.version_id ?? "",
        step_index: 0,
        after_failure: false
      }
      yield* sql`UPDATE runs SET version_id = ${position.version_id} WHERE id = ${queued.id}`
      const first = yield* finish(sql, [
        settlement({ id: queued.id, workspace_id, status: "failed", position })
      ])
      assert.deepStrictEqual(yield* eventsOf(workspace_id), [])
      const [next] = first.next
      yield* finish(sql, [
        settlement({
          id: next?.id ?? "",
          workspace_id,
          position: { ...position, step_index: 2, after_failure: true }
        })
      ])
      const [event, ...more] = yield* outboxOf(workspace_id)
      assert.deepInclude(event, { event: "chain_run.failed", subject_id: chain })
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("loses an event if the transaction that announced it is rolled back", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const outbox = yield* Outbox
      const { task_id: subject_id, workspace_id } = yield* setUp
      const announce = outbox.announce({
        workspace_id,
        event: "incident.opened",
        subject_id,
        tags: ["db"],
        at: new Date(),
        data: announcementData("incident.opened", subject_id)
      })
      yield* sql
        .withTransaction(Effect.andThen(announce, Effect.fail("no")))
        .pipe(Effect.catch(() => Effect.void))
      assert.deepStrictEqual(yield* eventsOf(workspace_id), [])
      yield* sql.withTransaction(announce)
      assert.deepStrictEqual(yield* eventsOf(workspace_id), ["incident.opened"])
      yield* outbox.forget({ workspace_id, subject_id })
      assert.deepStrictEqual(yield* eventsOf(workspace_id), [])
    })
  )

  it.effect("does not fail the settling of runs when a workspace was deleted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const run = yield* setUp
      yield* insertChannel(run.workspace_id)
      const queue = yield* RunQueue
      const { id } = yield* queue.enqueue(run)
      yield* sql`DELETE FROM workspaces WHERE id = ${run.workspace_id}`
      const settled = yield* finish(sql, [
        settlement({ id, workspace_id: run.workspace_id, status: "failed" })
      ])
      assert.deepStrictEqual(settled.ids, [id])
    })
  )
})
