import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { makeCalls } from "../../../src/engine/runner/Calls.ts"
import { makeEngineState } from "../../../src/engine/runner/EngineState.ts"
import type { OwnerAndTarget, StartedRun } from "../../../src/engine/Run.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { secretsLayer } from "./support/engine.ts"
import { makeFakeCalls, urlOf } from "./support/fakeCalls.ts"
import { eventually } from "./support/tasks.ts"

const fakeCalls = makeFakeCalls()

const started = (path: string): StartedRun & OwnerAndTarget => ({
  id: makeRunId(Date.now(), Date.now()),
  workspace_id: "5f0c5a55-7a29-4be5-8f3c-0d6a3b1f8a11",
  share: 1,
  target: null,
  kind: "cron",
  attempt: 1,
  lost: 0,
  due_ms: 0,
  scheduled_ms: 0,
  row_at: null,
  position: null,
  task_id: "",
  call: {
    method: "POST",
    url: urlOf(path),
    headers: {},
    body: null,
    timeout_seconds: 30,
    retry_count: 0,
    call_options: null
  },
  withheld: 0
})

/** Creates node 7's calls service, and records the results. */
const makeNode = Effect.gen(function* () {
  const engine = yield* makeEngineState
  engine.enroll(7, Number.POSITIVE_INFINITY)
  const calls = yield* makeCalls(engine)
  return { calls, engine }
})

const TestLayer = Layer.mergeAll(TestDatabaseLayer, secretsLayer, fakeCalls.layer)

layer(TestLayer, { excludeTestServices: true, timeout: "60 seconds" })("started runs", (it) => {
  it.effect("are called", () =>
    Effect.gen(function* () {
      const { calls, engine } = yield* makeNode
      const run = started("/prompt")
      yield* calls.begin(engine.leasedRuns.admit([run], 0), 7)
      yield* eventually(
        Effect.sync(() => engine.results.count),
        (count) => count === 1
      )
      assert.deepInclude(engine.results.first(1)[0], {
        id: run.id,
        status: "succeeded",
        lease_owner: 7
      })
      assert.strictEqual(engine.leasedRuns.running, 0)
      assert.strictEqual(fakeCalls.to("/prompt").length, 1)
    })
  )

  it.effect("are checked again if the lease of the node may have ended", () =>
    Effect.gen(function* () {
      const { calls, engine } = yield* makeNode
      engine.endLeaseIn(0)
      yield* calls.begin(engine.leasedRuns.admit([started("/late")], 0), 7)
      assert.deepInclude(engine.leasedRuns, { running: 0, held: 1 })
      assert.strictEqual(engine.results.count, 0)
      assert.isEmpty(fakeCalls.to("/late"))
    })
  )

  it.effect("are checked again if the lease may have ended before the request is written", () =>
    Effect.gen(function* () {
      const { calls, engine } = yield* makeNode
      fakeCalls.answers.set("/frozen", ({ maySend }) => {
        engine.endLeaseIn(0)
        return maySend?.() === false ? Effect.interrupt : Effect.succeed({})
      })
      yield* calls.begin(engine.leasedRuns.admit([started("/frozen")], 0), 7)
      yield* eventually(
        Effect.sync(() => engine.leasedRuns.running),
        (running) => running === 0
      )
      assert.strictEqual(engine.leasedRuns.held, 1)
      assert.strictEqual(engine.results.count, 0)
    })
  )

  it.effect("are released if the node that leased them was declared dead", () =>
    Effect.gen(function* () {
      const { calls, engine } = yield* makeNode
      const run = started("/gone")
      yield* calls.begin(engine.leasedRuns.admit([run], 0), 6)
      assert.deepInclude(engine.leasedRuns, { running: 0, held: 0 })
      assert.strictEqual(engine.results.count, 0)
      assert.isEmpty(fakeCalls.to("/gone"))
      assert.strictEqual(engine.leasedRuns.admit([run], 0).length, 1)
    })
  )
})
