// @tags slow
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { checkNodes, registerNode } from "../../src/engine/Nodes.ts"
import {
  aheadPartitionName,
  attachPartition,
  beforePartitionName,
  findToday,
  listHistoryPartitions,
  createHistoryPartition,
  dayPartitionName,
  type HistoryTable,
  historyTables
} from "../../src/engine/history/historyTables.ts"
import { Partitions } from "../../src/engine/Partitions.ts"
import { recover } from "../../src/engine/transitions/recover.ts"
import { firstIdAt, makeRunId } from "../../src/engine/RunId.ts"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { finish } from "../../src/engine/transitions/finish.ts"
import { claim } from "../../src/engine/transitions/claim.ts"
import { firstPositionAt } from "../../src/engine/laneTurns.ts"
import { start } from "../../src/engine/transitions/start.ts"
import { RunQueueLayer } from "./runner/support/engine.ts"
import { settlement } from "./runner/support/settlement.ts"
import { migrateEmptyDatabase } from "../support/emptyDatabase.ts"
import { onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { readExecutions, insertTask, insertWorkspace, readRuns } from "./runner/support/tasks.ts"

const dayMs = 86_400_000

const TestLayer = RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "")

const explain = (query: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN ${query}`)
  ).pipe(Effect.map((rows) => rows.map((row) => row["QUERY PLAN"]).join("\n")))

/** Creates these partitions, as earlier nodes could have left them. Days are relative to today. */
const leave = Effect.fnUntraced(function* (parts: ReadonlyArray<readonly [number, number]>) {
  const sql = yield* SqlClient.SqlClient
  const today = yield* findToday(sql)
  for (const table of historyTables) {
    for (const { name } of yield* listHistoryPartitions(sql, table))
      yield* sql`DROP TABLE ${sql(name)}`
    for (const [from, to] of parts) {
      const part = { name: nameOf(table, today, from, to), from: today + from, to: today + to }
      yield* createHistoryPartition(sql, table, part.name)
      yield* attachPartition(sql, table, part)
    }
  }
})

const nameOf = (table: HistoryTable, today: number, from: number, to: number) => {
  if (to === Infinity) return aheadPartitionName(table)
  return from === -Infinity ? beforePartitionName(table) : dayPartitionName(table, today + from)
}

/** Lists each table's partitions in order. */
const parts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const today = yield* findToday(sql)
  return yield* Effect.forEach(historyTables, (table) =>
    Effect.map(listHistoryPartitions(sql, table), (found) =>
      found
        .map(({ from, to }): readonly [number, number] => [from - today, to - today])
        .toSorted(([one], [other]) => one - other)
    )
  )
})

const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => [from + index, from + index + 1] as const)

const daysOfAll = (from: number, to: number) =>
  historyTables.map(() => [[-Infinity, from], ...range(from, to), [to, Infinity]])

/** Settles a run whose id contains a different day. */
const settleRunOf = Effect.fnUntraced(function* (
  workspace_id: Effect.Success<typeof insertWorkspace>,
  ms: number
) {
  const sql = yield* SqlClient.SqlClient
  const task_id = yield* insertTask(workspace_id)
  const { id } = yield* (yield* RunQueue).enqueue({ workspace_id, task_id, kind: "cron" })
  const old = makeRunId(ms, ms)
  yield* sql`
    UPDATE runs
    SET id = ${old}
    WHERE id = ${id}`
  assert.deepStrictEqual((yield* finish(sql, [settlement({ id: old, workspace_id })])).ids, [old])
  return old
})

layer(TestLayer, { excludeTestServices: true })("the history", (it) => {
  it.effect("has its partitions created by the first node of a new database", () =>
    Effect.gen(function* () {
      yield* migrateEmptyDatabase
      assert.deepStrictEqual<unknown>(
        yield* parts,
        historyTables.map(() => [[-Infinity, Infinity]])
      )
      assert.isTrue(yield* (yield* Partitions).maintain(30))
      assert.deepStrictEqual(yield* parts, daysOfAll(-1, 4))
    })
  )

  it.effect("has its partitions created ahead, and those beyond the retention dropped", () =>
    Effect.gen(function* () {
      const partitions = yield* Partitions
      yield* leave([[-Infinity, Infinity]])
      assert.isTrue(yield* partitions.maintain(30))
      assert.deepStrictEqual(yield* parts, daysOfAll(-1, 4))
      yield* leave([[-Infinity, -32], ...range(-32, 4), [4, Infinity]])
      assert.isTrue(yield* partitions.maintain(30))
      assert.deepStrictEqual(yield* parts, daysOfAll(-30, 4))
      const sql = yield* SqlClient.SqlClient
      const left = yield* sql`
        SELECT
        FROM pg_class
        WHERE relname IN (
          ${`executions_${dayOf(Date.now() - 31 * dayMs)}`},
          ${`executions_${dayOf(Date.now() - 32 * dayMs)}`}
        )`
      assert.isEmpty(left)
    })
  )

  it.effect("has a partition for every run, however long no node was running", () =>
    Effect.gen(function* () {
      const partitions = yield* Partitions
      const workspace_id = yield* insertWorkspace
      const now = Date.now()
      // Partitions are missing in the middle, as earlier versions could have left them.
      yield* leave([[-Infinity, -20], ...range(-20, -14), ...range(-11, -5), [-5, Infinity]])
      assert.isTrue(yield* partitions.maintain(30))
      assert.deepStrictEqual(yield* parts, daysOfAll(-20, 4))
      for (const days of [4, 12, 25]) yield* settleRunOf(workspace_id, now - days * dayMs)
      const expired = yield* settleRunOf(workspace_id, now - 40 * dayMs)
      assert.strictEqual((yield* readExecutions(workspace_id)).length, 4)
      yield* partitions.maintain(30)
      const kept = yield* readExecutions(workspace_id)
      assert.strictEqual(kept.length, 3)
      assert.notInclude(
        kept.map(({ id }) => id),
        expired
      )
      // No node was running for longer than the retention.
      yield* leave([[-Infinity, -90], ...range(-90, -80), [-80, Infinity]])
      assert.isTrue(yield* partitions.maintain(30))
      assert.deepStrictEqual(yield* parts, daysOfAll(-30, 4))
    })
  )

  it.effect("is not moved if it is large, because maintenance was blocked for days", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const partitions = yield* Partitions
      const now = Date.now()
      yield* leave([[-Infinity, -9], ...range(-9, -5), [-5, Infinity]])
      yield* sql`
        INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at)
        SELECT
          (left(${firstIdAt(now - dayMs)}, 18) || '-8' || lpad(to_hex(i), 3, '0') || '-' || lpad(to_hex(i), 12, '0'))::uuid,
          gen_random_uuid(), gen_random_uuid(), 'check', 'up', now()
        FROM generate_series(1, 10001) AS i`
      // Inserts an execution for a future day.
      yield* sql`
        INSERT INTO monitor_events (id, workspace_id, monitor_id, type, status, at)
        SELECT ${makeRunId(now + 99 * dayMs, now)}, gen_random_uuid(), gen_random_uuid(), 'check', 'up', now()`
      assert.isTrue(yield* partitions.maintain(30))
      const [, executions, events] = yield* parts
      assert.deepStrictEqual(executions, daysOfAll(-9, 4)[0])
      assert.deepStrictEqual(events, [[-Infinity, -9], ...range(-9, -5), [-5, 4], [4, Infinity]])
      const rows = yield* sql<{ readonly part: string; readonly count: number }>`
        SELECT tableoid::regclass::text AS part, count(*)::int AS count
        FROM monitor_events
        GROUP BY 1
        ORDER BY 2`
      assert.deepStrictEqual(
        rows.map(({ count }) => count),
        [1, 10_001]
      )
      assert.strictEqual(rows[0]?.part, "monitor_events_ahead")
      assert.isTrue(yield* partitions.maintain(30))
      assert.deepStrictEqual((yield* parts)[2], events)
      // The partition is dropped once its last day is older than the retention, and not earlier.
      assert.isTrue(yield* partitions.maintain(1))
      assert.deepStrictEqual((yield* parts)[2], [
        [-Infinity, -5],
        [-5, 4],
        [4, Infinity]
      ])
    })
  )

  /**
   * `pg_dump` holds this lock on the tables while reading them. Only a PostgreSQL server has a
   * second session.
   */
  it.effect.runIf(onPostgres)("blocks no statement while a reader locks its partitions", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const partitions = yield* Partitions
      yield* leave([[-Infinity, -40], ...range(-40, 3), [3, Infinity]])
      const workspace_id = yield* insertWorkspace
      const task_id = yield* insertTask(workspace_id)
      const isReading = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const reader = yield* sql`LOCK TABLE executions, earlier_attempts IN ACCESS SHARE MODE`.pipe(
        Effect.andThen(Deferred.succeed(isReading, undefined)),
        Effect.andThen(Deferred.await(mayEnd)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(isReading)
      assert.isFalse(yield* partitions.maintain(30))
      const run = yield* (yield* RunQueue).enqueue({ workspace_id, task_id, kind: "cron" })
      assert.deepStrictEqual((yield* finish(sql, [settlement({ id: run.id, workspace_id })])).ids, [
        run.id
      ])
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(reader)
      assert.isTrue(yield* partitions.maintain(30))
      assert.deepStrictEqual(yield* parts, daysOfAll(-30, 4))
    })
  )

  it.effect(
    "keeps executions that were cancelled long before they were due, and moves them to their day later",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const partitions = yield* Partitions
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
        yield* leave([
          [-Infinity, -1],
          [-1, 0],
          [0, Infinity]
        ])
        const run = yield* queue.schedule({
          workspace_id,
          task_id,
          run_at: new Date(Date.now() + 200 * dayMs)
        })
        const cancelled = yield* queue.cancel(workspace_id, run.id)
        assert.strictEqual(cancelled, "cancelled")
        const where = Effect.map(
          sql<{ readonly part: string }>`
            SELECT tableoid::regclass::text AS part
            FROM executions
            WHERE workspace_id = ${workspace_id}`,
          (rows) => rows.map(({ part }) => part)
        )
        assert.deepStrictEqual(yield* where, ["executions_ahead"])
        // A time shortly before that day.
        const soon = Date.now() + 3 * dayMs
        yield* sql`
          UPDATE executions
          SET id = ${makeRunId(soon, soon)}
          WHERE id = ${run.id}`
        yield* partitions.maintain(30)
        assert.deepStrictEqual(yield* where, [`executions_${dayOf(soon)}`])
        assert.strictEqual((yield* readExecutions(workspace_id))[0]?.status, "cancelled")
      })
  )

  it.effect(
    "is read by id from one day, and by workspace from the newest day on without sorting",
    () =>
      Effect.gen(function* () {
        yield* (yield* Partitions).maintain(30)
        const now = Date.now()
        const workspace = yield* insertWorkspace
        const byId = yield* explain(
          `SELECT * FROM executions WHERE workspace_id = '${workspace}' AND id = '${makeRunId(now, now)}'`
        )
        assert.strictEqual(byId.match(/Scan/g)?.length, 1)
        assert.notInclude(byId, "Append")
        const page = yield* explain(
          `SELECT * FROM executions WHERE workspace_id = '${workspace}' ORDER BY id DESC LIMIT 20`
        )
        assert.include(page, "Append")
        assert.notInclude(page, "Sort")
      })
  )
})

layer(TestLayer, { excludeTestServices: true })("the fence", (it) => {
  const prepare = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* (yield* Partitions).maintain(30)
    const workspace_id = yield* insertWorkspace
    const task_id = yield* insertTask(workspace_id)
    const run = yield* (yield* RunQueue).enqueue({ workspace_id, task_id, kind: "cron" })
    const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 1_000 })
    return { sql, workspace_id, run, node }
  })

  const take = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, node: number) {
    const { leased, started } = yield* claim(sql, {
      node,
      limit: 10,
      lookAheadMs: 0,
      from: firstPositionAt(0),
      turns: null
    })
    return yield* start(sql, node, [...leased, ...started])
  })

  it.effect("keeps out every node but the one that holds the lease of this attempt", () =>
    Effect.gen(function* () {
      const { node, run, sql, workspace_id } = yield* prepare
      assert.strictEqual((yield* take(sql, node)).started.length, 1)
      const { id } = run
      const result = { id, workspace_id, lease_owner: node }
      assert.isEmpty((yield* finish(sql, [settlement({ ...result, lease_owner: node + 1 })])).ids)
      assert.isEmpty((yield* finish(sql, [settlement({ ...result, attempt: 2 })])).ids)
      assert.strictEqual((yield* readRuns(workspace_id)).length, 1)
      assert.deepStrictEqual((yield* finish(sql, [settlement(result)])).ids, [id])
      assert.isEmpty((yield* finish(sql, [settlement(result)])).ids)
      assert.strictEqual((yield* readExecutions(workspace_id)).length, 1)
    })
  )

  it.effect("finds a run by its old or new row position, and finishes no other run", () =>
    Effect.gen(function* () {
      const { node, run, sql, workspace_id } = yield* prepare
      const queue = yield* RunQueue
      const other = yield* queue.enqueue({
        workspace_id,
        task_id: yield* insertTask(workspace_id),
        kind: "cron"
      })
      const { started } = yield* take(sql, node)
      const placeOf = (id: string) => started.find((one) => one.id === id)?.row_at ?? ""
      assert.match(placeOf(run.id), /^\(\d+,\d+\)$/)
      const result = { workspace_id, lease_owner: node }
      const misplaced = { ...result, id: run.id, row_at: placeOf(other.id) }
      assert.deepStrictEqual((yield* finish(sql, [settlement(misplaced)])).ids, [run.id])
      assert.deepStrictEqual(
        (yield* readRuns(workspace_id)).map(({ id }) => id),
        [other.id]
      )
      // An update moves the row to a different position.
      yield* sql`
        UPDATE runs
        SET lane = lane + 1
        WHERE id = ${other.id}`
      const moved = { ...result, id: other.id, row_at: placeOf(other.id) }
      assert.isEmpty((yield* finish(sql, [settlement({ ...moved, attempt: 2 })])).ids)
      assert.deepStrictEqual((yield* finish(sql, [settlement(moved)])).ids, [other.id])
      assert.strictEqual((yield* readExecutions(workspace_id)).length, 2)
    })
  )

  it.effect("lets a node that was declared dead neither claim nor finish anything", () =>
    Effect.gen(function* () {
      const { node, run, sql, workspace_id } = yield* prepare
      assert.strictEqual((yield* take(sql, node)).started.length, 1)
      yield* sql`
        UPDATE nodes
        SET died_at = now()
        WHERE id = ${node}`
      assert.isTrue((yield* checkNodes(sql)).to_take_back)
      assert.strictEqual(yield* recover(sql, "dead", "perhaps going on"), 1)
      assert.isFalse((yield* checkNodes(sql)).to_take_back)
      const late = settlement({ id: run.id, workspace_id, lease_owner: node })
      assert.isEmpty((yield* finish(sql, [late])).ids)
      assert.isEmpty((yield* take(sql, node)).started)
      const [again] = yield* readRuns(workspace_id)
      assert.deepInclude(again, { state: "ready", attempt: 2, lease_owner: null })
    })
  )

  it.effect("fails a run that was lost with its node for the fifth time", () =>
    Effect.gen(function* () {
      const { sql, workspace_id } = yield* prepare
      for (let death = 0; death < 5; death++) {
        const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 1_000 })
        yield* take(sql, node)
        yield* recover(sql, node, "gone")
      }
      const [execution] = yield* readExecutions(workspace_id)
      assert.deepInclude(execution, { status: "failed", attempts_count: 5, trigger: "retry" })
      const attempts = yield* sql`
        SELECT number, finished_at, error
        FROM attempts
        WHERE execution_id = ${execution?.id ?? ""}
        ORDER BY number`
      assert.strictEqual(attempts.length, 5)
      assert.deepInclude(attempts[0], {
        finished_at: null,
        error: "node_lost: the node was lost during the call"
      })
    })
  )
})
