import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { handOver } from "../../../src/engine/transitions/handOver.ts"
import type { FreedSlot } from "../../../src/engine/SettleResult.ts"
import { insertTask, insertWorkspace, callStep } from "../runner/support/tasks.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { enqueueOverdue, insertQueue, setQueue } from "../queues/queues.ts"

interface Waiting {
  readonly limits: Parameters<typeof insertQueue>[1]
  /** The number of runs that already have a slot. */
  readonly admitted: number
}

/** Creates a queue with ten runs that wait for a slot. */
const waitingRuns = Effect.fnUntraced(function* (
  { admitted, limits }: Waiting,
  fields: Parameters<typeof insertTask>[1] = {}
) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* insertWorkspace
  const queueId = yield* insertQueue(workspace, limits)
  const task = yield* insertTask(workspace, { url: "https://example.com/next", ...fields })
  yield* setQueue([task], queueId)
  yield* enqueueOverdue(task, 10 + admitted)
  const rows = yield* sql<{ readonly id: string }>`
    UPDATE runs
    SET
      lease_owner = 1, state = 'running', slot_queue_id = queue_id, started_at = now(),
      attempt_started_at = now()
    WHERE id IN (SELECT id FROM runs WHERE task_id = ${task} ORDER BY due_at LIMIT ${admitted})
    RETURNING id`
  return { queueId, task, ids: rows.map(({ id }) => id) }
})

type Queue = Effect.Success<ReturnType<typeof waitingRuns>>

const nodeId = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly id: number }>`
    INSERT INTO nodes (holds_lock, lease_until)
    VALUES (true, now() + interval '1 minute')
    RETURNING id`
).pipe(Effect.map(([row]) => row?.id ?? assert.fail("no node")))

/** Finishes these runs and hands over their slots, as settling does. */
const endAndHandOver = Effect.fnUntraced(function* (
  { queueId }: Queue,
  ended: ReadonlyArray<string>
) {
  const sql = yield* SqlClient.SqlClient
  const node = yield* nodeId
  const slots = ended.map((id): FreedSlot => ({ queue_id: queueId, id }))
  return yield* sql.withTransaction(
    Effect.andThen(
      sql`DELETE FROM runs WHERE id = ANY (${ended}::uuid[])`,
      handOver(sql, node, slots)
    )
  )
})

const admittedOf = ({ task }: Queue) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly runs: number }>`
      SELECT count(*)::int AS runs
      FROM runs
      WHERE task_id = ${task}
        AND state <> 'parked'`
  ).pipe(Effect.map(([row]) => row?.runs))

layer(TestDatabaseLayer)("the slots of finished runs", (it) => {
  it.effect("go to the next runs, which start immediately", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* waitingRuns({ limits: { max_concurrency: 2 }, admitted: 2 })
      const [next] = yield* sql<{ readonly id: string }>`
        SELECT id
        FROM runs
        WHERE task_id = ${queue.task}
          AND state = 'parked'
        ORDER BY due_at DESC
        LIMIT 1`
      yield* sql`UPDATE runs SET priority = 50 WHERE id = ${next?.id ?? ""}`
      const { leased, started } = yield* endAndHandOver(queue, queue.ids.slice(0, 1))
      assert.isEmpty(leased)
      assert.deepStrictEqual(
        started.map(({ id }) => id),
        [next?.id]
      )
      assert.strictEqual(started[0]?.target, "https://example.com")
      assert.strictEqual(yield* admittedOf(queue), 2)
    })
  )

  it.effect("go to steps of chains, which the start guard checks", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const steps = [callStep("one", { url: "https://example.com/next" })]
      const queue = yield* waitingRuns(
        { limits: { max_concurrency: 2 }, admitted: 2 },
        { kind: "chain", steps }
      )
      yield* sql`UPDATE runs SET kind = 'chain', step_index = 0 WHERE task_id = ${queue.task}`
      const { leased, started } = yield* endAndHandOver(queue, queue.ids)
      assert.strictEqual(leased.length, 2)
      assert.isEmpty(started)
      assert.strictEqual(yield* admittedOf(queue), 2)
    })
  )

  it.effect.each([
    { name: "it is paused", limits: { max_concurrency: 3, paused: true }, left: 1 },
    { name: "it has a rate", limits: { max_concurrency: 3, rate_per_second: 5 }, left: 1 },
    { name: "it has only a rate", limits: { rate_per_second: 5 }, left: 1 },
    { name: "it allows fewer than go on", limits: { max_concurrency: 1 }, left: 1 },
    { name: "it allows one fewer", limits: { max_concurrency: 2 }, left: 2 }
  ])("stay with the queue if $name", ({ left, limits }) =>
    Effect.gen(function* () {
      const queue = yield* waitingRuns({ limits, admitted: 3 })
      yield* endAndHandOver(queue, queue.ids.slice(0, 2))
      assert.strictEqual(yield* admittedOf(queue), left)
    })
  )

  it.effect("stay empty while they are held for a lost call", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* waitingRuns({ limits: { max_concurrency: 3 }, admitted: 3 })
      yield* sql`
        UPDATE queues
        SET held_until = ARRAY[now() + interval '1 minute', now() - interval '1 minute']
        WHERE id = ${queue.queueId}`
      yield* endAndHandOver(queue, queue.ids.slice(0, 2))
      assert.strictEqual(yield* admittedOf(queue), 2)
    })
  )

  it.effect("are left for a worker to take", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* waitingRuns({ limits: { max_concurrency: 1 }, admitted: 1 })
      yield* sql`
        UPDATE runs
        SET run_on = '{"labels":["a"]}', worker_wait_seconds = 60
        WHERE task_id = ${queue.task}`
      const { leased, started } = yield* endAndHandOver(queue, queue.ids)
      assert.isEmpty([...leased, ...started])
      assert.strictEqual(yield* admittedOf(queue), 0)
    })
  )
})
