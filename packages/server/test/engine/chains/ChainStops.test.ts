// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { nodeLayer } from "../runner/support/engine.ts"
import { makeFakeCalls, urlOf } from "../runner/support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertWorkspace,
  callStep,
  readRuns
} from "../runner/support/tasks.ts"

const calls = makeFakeCalls()

/** The embedded store has only one node. */
const nodes = Array.from({ length: onPostgres ? 2 : 1 }, () => nodeLayer(calls.layer))

const Nodes = nodes
  .reduce((all, node) => Layer.merge(all, node))
  .pipe(Layer.provideMerge(TestDatabaseLayer))

const steps = Array.from({ length: 50 }, (_, index) => `s${index}`)

/** Starts a chain with short steps, and waits until its `goal`-th step has started. */
const underWay = Effect.fnUntraced(function* (goal: number) {
  const workspace_id = yield* insertWorkspace
  const path = `/${workspace_id}`
  const reached = yield* Deferred.make<string>()
  calls.answers.set(path, ({ execution_id }) =>
    calls.to(path).length === goal
      ? Effect.as(Deferred.succeed(reached, execution_id), {})
      : Effect.succeed({})
  )
  const task_id = yield* insertTask(workspace_id, {
    kind: "chain",
    steps: steps.map((name) => callStep(name, { url: urlOf(path), run_if: "always" }))
  })
  yield* (yield* RunQueue).enqueue({ workspace_id, task_id, kind: "chain" })
  const execution_id = yield* Deferred.await(reached)
  return { workspace_id, task_id, execution_id, made: () => calls.to(path).length }
})

type Chain = Effect.Success<ReturnType<typeof underWay>>

/** One more call is permitted, because the current step's call could already be in flight. */
const assertStopped = Effect.fnUntraced(function* (chain: Chain, made: number) {
  yield* eventually(readRuns(chain.workspace_id), (runs) => runs.length === 0)
  assert.isAtMost(chain.made(), made + 1)
  const rows = yield* readExecutions(chain.workspace_id)
  assert.strictEqual(rows.length, steps.length)
  assert.strictEqual(rows.filter((row) => row.status === "cancelled").length, 1)
})

const stops = 100

/**
 * Several chains run concurrently, so that results are written while stops wait for the same rows.
 */
const atOnce = { concurrency: 10, discard: true }

const goals = Array.from({ length: stops }, (_, index) => 1 + (index % 10))

layer(Nodes, { excludeTestServices: true })("a chain", (it) => {
  describe("that runs from step to step", () => {
    it.effect("ends with the step in flight once it is stopped", () =>
      Effect.forEach(
        goals,
        Effect.fnUntraced(function* (goal) {
          const chain = yield* underWay(goal)
          yield* (yield* RunQueue).stop(chain)
          yield* assertStopped(chain, chain.made())
        }),
        atOnce
      )
    )

    it.effect("ends with the step in flight once that step is cancelled", () =>
      Effect.forEach(
        goals,
        Effect.fnUntraced(function* (goal) {
          const queue = yield* RunQueue
          const chain = yield* underWay(goal)
          let { execution_id } = chain
          // If this step has already finished, cancel the next one.
          while ((yield* queue.cancel(chain.workspace_id, execution_id)) === null) {
            const [run] = yield* readRuns(chain.workspace_id)
            execution_id = run?.id ?? execution_id
          }
          yield* assertStopped(chain, chain.made())
        }),
        atOnce
      )
    )
  })
})
