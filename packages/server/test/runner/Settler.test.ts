import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { settlementOf } from "../../src/queue/Run.ts"
import { makeRunId } from "../../src/queue/RunId.ts"
import { makeEngine } from "../../src/runner/Engine.ts"
import { makeSettler } from "../../src/runner/Settler.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { QueueLayer } from "./support/engine.ts"

const id = () => makeRunId(0, Date.now())

const workspace_id = "5f0c5a55-7a29-4be5-8f3c-0d6a3b1f8a11"

const step = { chain_run_id: id(), version_id: id(), step_index: 0, after_failure: false }

/** A node that has a result to write now and then. */
const idle = Effect.gen(function* () {
  const engine = yield* makeEngine
  const settler = yield* makeSettler(engine)
  const write = (place: typeof step | null) => {
    const run = { id: id(), workspace_id, task_id: id(), kind: "cron", attempt: 1, place } as const
    settler.offer(settlementOf(run, 7, { status: "succeeded", error: null }))
    return Effect.forkChild(settler.settleSome(() => Effect.void))
  }
  return { engine, settler, write }
})

/** A node with a run that is due and has no slot, and a result that is to be written. */
const begin = Effect.fnUntraced(function* (place: typeof step | null) {
  const { engine, settler, write } = yield* idle
  const due = { id: id(), workspace_id, share: 1, target: null, attempt: 1, due_ms: 0 }
  engine.intake.add([due], 0)
  engine.intake.take(0, 0)
  assert.isTrue(engine.intake.isPressed)
  return { engine, settler, writing: yield* write(place) }
})

/** What was sent to the store by now is written, because it answers in turn. */
const assertNothingSent = Effect.fnUntraced(function* (writing: Fiber.Fiber<void, unknown>) {
  const sql = yield* SqlClient.SqlClient
  for (let n = 0; n < 3; n++) yield* sql`SELECT 1`
  assert.isUndefined(writing.pollUnsafe())
})

/** Nothing is sent until just before this time is over. */
const assertWaits = Effect.fnUntraced(function* (
  writing: Fiber.Fiber<void, unknown>,
  millis: number
) {
  yield* TestClock.adjust(millis - 1)
  yield* assertNothingSent(writing)
  yield* TestClock.adjust(1)
  yield* Fiber.join(writing)
})

const TestLayer = QueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

layer(TestLayer)("While no run waits for a slot", (it) => {
  it.effect("a result is written at once, and what follows within 25 ms is gathered", () =>
    Effect.gen(function* () {
      const { settler, write } = yield* idle
      yield* Fiber.join(yield* write(null))
      yield* assertWaits(yield* write(null), 25)
      yield* TestClock.adjust("25 millis")
      yield* Fiber.join(yield* write(null))
      assert.strictEqual(settler.pending(), 0)
    })
  )

  it.effect("a chain goes on within 5 ms", () =>
    Effect.gen(function* () {
      const { write } = yield* idle
      yield* Fiber.join(yield* write(step))
      yield* assertWaits(yield* write(step), 5)
    })
  )
})

layer(TestLayer)("While runs are due that have no slot", (it) => {
  it.effect("results wait for a fifth of a second", () =>
    Effect.gen(function* () {
      const { settler, writing } = yield* begin(null)
      yield* TestClock.adjust("199 millis")
      yield* assertNothingSent(writing)
      assert.strictEqual(settler.pending(), 1)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(writing)
      assert.strictEqual(settler.pending(), 0)
    })
  )

  it.effect("results wait no longer once none is due any more", () =>
    Effect.gen(function* () {
      const { engine, writing } = yield* begin(null)
      yield* TestClock.adjust("60 millis")
      assert.lengthOf(engine.intake.take(0, 1), 1)
      assert.isFalse(engine.intake.isPressed)
      yield* TestClock.adjust("15 millis")
      yield* Fiber.join(writing)
    })
  )

  it.effect("a chain goes on sooner", () =>
    Effect.gen(function* () {
      const { writing } = yield* begin(step)
      yield* assertWaits(writing, 50)
    })
  )
})
