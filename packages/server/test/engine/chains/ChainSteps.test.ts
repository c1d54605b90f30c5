import { assert, describe, layer } from "@effect/vitest"
import type { StoredStep } from "../../../src/engine/chains/ChainVersions.ts"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { nodeLayer } from "../runner/support/engine.ts"
import { offsetClock } from "../../support/offsetClock.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { makeFakeCalls, urlOf } from "../runner/support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertSteps,
  insertTask,
  insertWorkspace,
  callStep,
  readRuns
} from "../runner/support/tasks.ts"

const calls = makeFakeCalls()
const { answers } = calls

const OneNode = nodeLayer(calls.layer).pipe(Layer.provideMerge(TestDatabaseLayer))

layer(OneNode, { excludeTestServices: true })("the run engine", (it) => {
  describe("a chain", () => {
    const runChain = (steps: ReadonlyArray<StoredStep>) =>
      Effect.gen(function* () {
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { kind: "chain", steps })
        const queue = yield* RunQueue
        const run = yield* queue.enqueue({ workspace_id, task_id, kind: "chain" })
        return { workspace_id, task_id, run }
      })

    it.effect("runs its steps one after the other and fills in their responses", () =>
      Effect.gen(function* () {
        answers.set("/login", () => Effect.succeed({ response_body: '{"token":"t-1","day":7}' }))
        const { run, workspace_id } = yield* runChain([
          callStep("login"),
          callStep("alarm", { run_if: "failure" }),
          callStep("close", {
            url: urlOf("/close/{{ steps.login.body.day }}"),
            headers: { authorization: "Bearer {{ steps.login.body.token }}" }
          })
        ])
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 3)
        assert.deepStrictEqual(
          new Set(rows.map((row) => `${row.step} ${row.status} ${row.trigger}`)),
          new Set(["login succeeded manual", "alarm skipped chain", "close succeeded chain"])
        )
        assert.strictEqual(rows[0]?.id, run.id)
        assert.strictEqual(calls.to("/close/7")[0]?.headers["authorization"], "Bearer t-1")
        assert.isEmpty(yield* readRuns(workspace_id))
      })
    )

    it.effect("uses the responses of its steps, even on a node whose clock is ahead", () =>
      Effect.gen(function* () {
        answers.set("/login", () => Effect.succeed({ response_body: '{"token":"t-1"}' }))
        answers.set("/second", () => Effect.succeed({ response_body: '{"id":"7"}' }))
        const third = callStep("third", { url: urlOf("/third/{{ steps.second.body.id }}") })
        const { run, workspace_id } = yield* runChain([
          callStep("login"),
          callStep("second"),
          third
        ]).pipe(Effect.provideService(Clock.Clock, offsetClock(60_000).clock))
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 3)
        assert.deepStrictEqual(
          rows.map((row) => `${row.step} ${row.status}`),
          ["login succeeded", "second succeeded", "third succeeded"]
        )
        assert.strictEqual(rows[0]?.id, run.id)
      })
    )

    it.effect(
      "whose value is missing fails that step without a call, and continues to its alarm",
      () =>
        Effect.gen(function* () {
          answers.set("/poor", () => Effect.succeed({ response_body: "{}" }))
          const { workspace_id } = yield* runChain([
            callStep("poor"),
            callStep("use", { url: urlOf("/use/{{ steps.poor.body.id }}") }),
            callStep("never"),
            callStep("cry", { run_if: "failure" })
          ])
          const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 4)
          const byStep = new Map(rows.map((row) => [row.step, row]))
          assert.strictEqual(byStep.get("use")?.status, "failed")
          assert.include(byStep.get("use")?.error ?? "", "steps.poor.body.id is missing")
          assert.strictEqual(byStep.get("never")?.status, "skipped")
          assert.strictEqual(byStep.get("cry")?.status, "succeeded")
          assert.isEmpty(calls.to("/use/"))
        })
    )

    it.effect("keeps its steps when the chain is changed", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        let go = () => {}
        answers.set("/first", () =>
          Effect.callback((resume) => {
            go = () => resume(Effect.succeed({}))
          })
        )
        const { task_id, workspace_id } = yield* runChain([callStep("first"), callStep("second")])
        yield* eventually(
          Effect.sync(() => calls.to("/first").length),
          (made) => made === 1
        )
        yield* sql`
          UPDATE tasks
          SET version_id = ${yield* insertSteps(workspace_id, [callStep("other")])}
          WHERE id = ${task_id}`
        go()
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 2)
        assert.deepStrictEqual(
          rows.map((row) => row.step),
          ["first", "second"]
        )
      })
    )

    it.effect("ends when a step is cancelled, and none of the others runs", () =>
      Effect.gen(function* () {
        const queue = yield* RunQueue
        answers.set("/stuck", () => Effect.never)
        const { run, workspace_id } = yield* runChain([
          callStep("stuck"),
          callStep("after", { run_if: "always" })
        ])
        yield* eventually(readRuns(workspace_id), ([run]) => run?.state === "running")
        yield* eventually(
          Effect.sync(() => calls.to("/stuck").length),
          (made) => made === 1
        )
        const cancelled = yield* queue.cancel(workspace_id, run.id)
        assert.strictEqual(cancelled, "requested")
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 2)
        assert.deepStrictEqual(
          new Set(rows.map((row) => `${row.step} ${row.status}`)),
          new Set(["stuck cancelled", "after skipped"])
        )
        assert.isEmpty(calls.to("/after"))
      })
    )

    it.effect("blocks the next run until its last step has finished", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        const open: Array<() => void> = []
        answers.set("/gate", () =>
          Effect.callback((resume) => {
            open.push(() => resume(Effect.succeed({})))
          })
        )
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, {
          kind: "chain",
          overlap: "queue",
          steps: ["one", "two"].map((name) => callStep(name, { url: urlOf("/gate") }))
        })
        const reached = (calls: number) =>
          eventually(
            Effect.sync(() => open.length),
            (length) => length === calls
          )
        yield* queue.enqueue({ workspace_id, task_id, kind: "chain" })
        yield* reached(1)
        yield* sql`
          UPDATE tasks
          SET next_fire_at = now()
          WHERE id = ${task_id}`
        yield* queue.wake(new Date())
        yield* eventually(readRuns(workspace_id), (runs) =>
          runs.some((run) => run.state === "blocked")
        )

        open[0]?.()
        yield* reached(2)
        const waiting = yield* sql`
          SELECT state, due_at = slot_at AS untouched
          FROM runs
          WHERE task_id = ${task_id}
            AND slot_at IS NOT NULL`
        assert.deepStrictEqual(waiting, [{ state: "blocked", untouched: true }])

        open[1]?.()
        yield* reached(3)
        open[2]?.()
        yield* reached(4)
        open[3]?.()
        const rows = yield* eventually(readExecutions(workspace_id), (rows) => rows.length === 4)
        assert.deepStrictEqual(
          rows.map((row) => row.status),
          Array.from({ length: 4 }, () => "succeeded")
        )
      })
    )
  })
})
