import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Settlement, makeSettlement } from "../../../src/engine/Run.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { type EngineState, makeEngineState } from "../../../src/engine/runner/EngineState.ts"
import { makeSettler } from "../../../src/engine/runner/Settler.ts"
import { EndSignals } from "../../../src/events/EndSignals.ts"
import { pollUntil } from "../../billing/support/fixture.ts"
import { enqueueOverdue, insertQueue, setQueue } from "../queues/queues.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { RunQueueLayer } from "./support/engine.ts"
import { settlement } from "./support/settlement.ts"
import { readExecutions, insertTask, insertWorkspace } from "./support/tasks.ts"

const id = () => makeRunId(0, Date.now())

const workspace_id = "5f0c5a55-7a29-4be5-8f3c-0d6a3b1f8a11"

const step = { chain_run_id: id(), version_id: id(), step_index: 0, after_failure: false }

/** Creates a node that only occasionally has a result to write. */
const idleWith = Effect.fnUntraced(function* (begin: Effect.Effect<void>) {
  const engine = yield* makeEngineState
  const settler = yield* makeSettler(engine, () => begin)
  const write = (position: typeof step | null) => {
    const run = {
      id: id(),
      workspace_id,
      task_id: id(),
      kind: "cron",
      attempt: 1,
      position
    } as const
    engine.results.add(makeSettlement(run, 7, { status: "succeeded", error: null }))
    return Effect.forkChild(settler.settleSome)
  }
  return { engine, settler, write }
})

const idle = idleWith(Effect.void)

/** Creates a node that has a result to write and a due run that holds no slot. */
const setUp = Effect.fnUntraced(function* (position: typeof step | null) {
  const { engine, settler, write } = yield* idle
  const due = { id: id(), workspace_id, share: 1, target: null, attempt: 1, due_ms: 0 }
  engine.leasedRuns.add([due], 0)
  engine.leasedRuns.take(0, 0)
  assert.isTrue(engine.leasedRuns.hasWaitingRuns)
  return { engine, settler, writing: yield* write(position) }
})

/** All statements sent so far are complete, because the store processes statements in order. */
const assertNothingSent = Effect.fnUntraced(function* (writing: Fiber.Fiber<void, unknown>) {
  const sql = yield* SqlClient.SqlClient
  for (let n = 0; n < 3; n++) yield* sql`SELECT 1`
  assert.isUndefined(writing.pollUnsafe())
})

/** Asserts that nothing is written until this time has passed. */
const assertWaits = Effect.fnUntraced(function* (
  writing: Fiber.Fiber<void, unknown>,
  millis: number
) {
  yield* TestClock.adjust(millis - 1)
  yield* assertNothingSent(writing)
  yield* TestClock.adjust(1)
  yield* Fiber.join(writing)
})

const TestLayer = RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

/** Creates a run that this node executes. If the run holds a slot, it is in a separate queue. */
const running = Effect.fnUntraced(function* (engine: EngineState, holdsSlot: boolean) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* insertWorkspace
  const task_id = yield* insertTask(workspace)
  if (holdsSlot) yield* setQueue([task_id], yield* insertQueue(workspace, { max_concurrency: 1 }))
  yield* enqueueOverdue(task_id, 1)
  const rows = yield* sql<{ readonly id: string }>`
    UPDATE runs
    SET
      state = 'running', lease_owner = ${engine.node}, slot_queue_id = queue_id,
      started_at = now(), attempt_started_at = now()
    WHERE task_id = ${task_id}
    RETURNING id`
  const { id: runId } = rows[0] ?? assert.fail("no run")
  const leased = {
    id: runId,
    workspace_id: workspace,
    share: 1,
    target: null,
    attempt: 1,
    due_ms: 0
  }
  engine.leasedRuns.add([{ ...leased, holdsSlot }], 0)
  assert.lengthOf(engine.leasedRuns.take(0, 1), 1)
  return settlement({ id: runId, workspace_id: workspace, task_id, lease_owner: engine.node })
})

const historyOf = ({ workspace_id: workspaceId }: Settlement) =>
  Effect.map(readExecutions(workspaceId), (rows) => rows.map(({ status }) => status))

layer(TestLayer)("A result that is written", (it) => {
  it.effect("is announced, although the run that gets its slot cannot begin", () =>
    Effect.gen(function* () {
      const { engine, settler } = yield* idleWith(Effect.die(new Error("the database just went")))
      engine.enroll(7, Number.POSITIVE_INFINITY)
      const ended = yield* running(engine, true)
      assert.strictEqual(engine.slotsToPassOn([ended]).size, 1)
      const { waker } = yield* (yield* EndSignals).watch([ended.id])
      engine.results.add(ended)
      yield* settler.settleSome
      assert.strictEqual(settler.pending(), 0)
      // The test's clock does not move, so this returns only if the signal arrived.
      yield* waker.wait(60_000)
      assert.strictEqual(engine.counts.fenced, 0)
      assert.deepStrictEqual(yield* historyOf(ended), ["succeeded"])
    })
  )
})

layer(TestLayer)("A result that cannot be stored", (it) => {
  const refuse = Effect.fnUntraced(function* (taskId: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$`)
    yield* sql.unsafe(`
      CREATE TRIGGER refuse BEFORE DELETE ON runs
      FOR EACH ROW WHEN (OLD.task_id = '${taskId}')
      EXECUTE FUNCTION refuse()`)
  })
  const allow = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.orDie(sql.unsafe("DROP FUNCTION IF EXISTS refuse CASCADE"))
  )

  it.effect("delays no later result, and is retried after a minute", () =>
    Effect.gen(function* () {
      const { engine, settler } = yield* idle
      engine.enroll(7, Number.POSITIVE_INFINITY)
      const refused = yield* running(engine, false)
      const behind = [yield* running(engine, false), yield* running(engine, false)]
      yield* refuse(refused.task_id)
      for (const one of [refused, ...behind]) engine.results.add(one)
      yield* settler.settleSome
      for (const one of behind) assert.deepStrictEqual(yield* historyOf(one), ["succeeded"])
      assert.isEmpty(yield* historyOf(refused))
      assert.strictEqual(settler.pending(), 1)

      // The node does not wait for this result when it stops.
      yield* settler.flush
      yield* allow
      const waiting = yield* Effect.forkChild(settler.settleSome)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(waiting)
      const last = yield* Effect.forkChild(settler.settleSome)
      yield* pollUntil(historyOf(refused), (statuses) => statuses.length === 1)
      assert.deepStrictEqual(yield* historyOf(refused), ["succeeded"])
      yield* pollUntil(Effect.sync(settler.pending), (pending) => pending === 0)
      yield* Fiber.interrupt(last)
    }).pipe(Effect.ensuring(allow))
  )

  it.effect("makes the loop fail if there are too many of them, and is kept", () =>
    Effect.gen(function* () {
      const { engine, settler } = yield* idle
      engine.enroll(7, Number.POSITIVE_INFINITY)
      const refused = yield* running(engine, false)
      yield* refuse(refused.task_id)
      for (let n = 0; n < 22; n++) engine.results.add({ ...refused })
      const exit = yield* Effect.exit(settler.settleSome)
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(settler.pending(), 22)
    }).pipe(Effect.ensuring(allow))
  )
})

layer(TestLayer)("While no run waits for a slot", (it) => {
  it.effect("a result is written immediately, and further ones within 25 ms are batched", () =>
    Effect.gen(function* () {
      const { settler, write } = yield* idle
      yield* Fiber.join(yield* write(null))
      yield* assertWaits(yield* write(null), 25)
      yield* TestClock.adjust("25 millis")
      yield* Fiber.join(yield* write(null))
      assert.strictEqual(settler.pending(), 0)
    })
  )

  it.effect("a chain continues within 5 ms", () =>
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
      const { settler, writing } = yield* setUp(null)
      yield* TestClock.adjust("199 millis")
      yield* assertNothingSent(writing)
      assert.strictEqual(settler.pending(), 1)
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(writing)
      assert.strictEqual(settler.pending(), 0)
    })
  )

  it.effect("results wait no longer once no run is due", () =>
    Effect.gen(function* () {
      const { engine, writing } = yield* setUp(null)
      yield* TestClock.adjust("60 millis")
      assert.lengthOf(engine.leasedRuns.take(0, 1), 1)
      assert.isFalse(engine.leasedRuns.hasWaitingRuns)
      yield* TestClock.adjust("15 millis")
      yield* Fiber.join(writing)
    })
  )

  it.effect("a chain continues sooner", () =>
    Effect.gen(function* () {
      const { writing } = yield* setUp(step)
      yield* assertWaits(writing, 50)
    })
  )
})
