import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { judge, register } from "../../src/queue/Nodes.ts"
import { Partitions } from "../../src/queue/Partitions.ts"
import { takeBack } from "../../src/queue/ending/Reap.ts"
import { firstIdAt, makeRunId } from "../../src/queue/RunId.ts"
import { RunQueue } from "../../src/queue/RunQueue.ts"
import { settle } from "../../src/queue/ending/Settle.ts"
import { claim } from "../../src/queue/starting/Claim.ts"
import { beginningOf } from "../../src/queue/starting/Turns.ts"
import { start } from "../../src/queue/starting/Start.ts"
import { QueueLayer } from "../runner/support/engine.ts"
import { settlement } from "../runner/support/settlement.ts"
import { onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { history, insertTask, insertWorkspace, unfinished } from "../runner/support/tasks.ts"

const dayMs = 86_400_000

const TestLayer = QueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "")

const explain = (query: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN ${query}`)
  ).pipe(Effect.map((rows) => rows.map((row) => row["QUERY PLAN"]).join("\n")))

layer(TestLayer, { excludeTestServices: true })("the history", (it) => {
  it.effect("has its days made ahead, and days beyond the retention dropped", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const partitions = yield* Partitions
      const now = Date.now()
      yield* partitions.maintain(30)
      yield* partitions.ensure([now - 31 * dayMs, now - 30 * dayMs])
      yield* partitions.maintain(30)
      yield* partitions.maintain(30)
      const rows = yield* sql<{ readonly name: string }>`
        SELECT relname AS name
        FROM pg_class
        WHERE relname ~ '^executions_[0-9]{8}$'
        ORDER BY relname`
      const days = [-30, -1, 0, 1, 2, 3].map((offset) => dayOf(now + offset * dayMs))
      assert.deepStrictEqual(
        rows.map((row) => row.name),
        days.map((day) => `executions_${day}`)
      )
    })
  )

  /** As `pg_dump` does for as long as it reads: only a server has a second session. */
  it.effect.runIf(onPostgres)("lets nobody wait while a reader keeps its days from changing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const partitions = yield* Partitions
      const now = Date.now()
      yield* partitions.maintain(30)
      yield* partitions.ensure([now - 40 * dayMs])
      // As if the days that are made ahead had been made the day before yesterday.
      for (const table of ["executions", "earlier_attempts"]) {
        yield* sql`ALTER TABLE ${sql(table)} DETACH PARTITION ${sql(`${table}_ahead`)}`
        yield* sql`DROP TABLE ${sql(`${table}_${dayOf(now + 3 * dayMs)}`)}`
        yield* sql`
          ALTER TABLE ${sql(table)}
          ATTACH PARTITION ${sql(`${table}_ahead`)}
          FOR VALUES FROM (${sql.literal(`'${firstIdAt(Math.floor(now / dayMs + 3) * dayMs)}'`)})
          TO (MAXVALUE)`
      }
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
      assert.deepStrictEqual((yield* settle(sql, [settlement({ id: run.id, workspace_id })])).ids, [
        run.id
      ])
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(reader)
      assert.isTrue(yield* partitions.maintain(30))
      const days = yield* sql<{ readonly name: string }>`
        SELECT relname AS name
        FROM pg_class
        WHERE relname IN (
            ${`executions_${dayOf(now + 3 * dayMs)}`},
            ${`earlier_attempts_${dayOf(now + 3 * dayMs)}`},
            ${`executions_${dayOf(now - 40 * dayMs)}`},
            ${`earlier_attempts_${dayOf(now - 40 * dayMs)}`}
          )
        ORDER BY relname`
      assert.deepStrictEqual(
        days.map(({ name }) => name),
        ["earlier_attempts", "executions"].map((table) => `${table}_${dayOf(now + 3 * dayMs)}`)
      )
    })
  )

  it.effect(
    "keeps what was cancelled long before its time, and moves it to its day when that comes",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const partitions = yield* Partitions
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const task_id = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
        yield* partitions.maintain(30)
        const run = yield* queue.schedule({
          workspace_id,
          task_id,
          run_at: new Date(Date.now() + 200 * dayMs)
        })
        const cancelled = yield* queue.cancel({ workspace_id, task_id, execution_id: run.id })
        assert.strictEqual(cancelled, "cancelled")
        const where = sql<{ readonly partition: string }>`
        SELECT tableoid::regclass::text AS partition
        FROM executions
        WHERE id = ${run.id}`
        assert.deepStrictEqual(yield* where, [{ partition: "executions_ahead" }])

        // As if no day but those long past had been made yet.
        yield* sql`ALTER TABLE executions DETACH PARTITION executions_ahead`
        yield* sql`
        UPDATE executions_ahead
        SET id = ${makeRunId(Date.now() + 3 * dayMs, Date.now())}
        WHERE id = ${run.id}`
        const names = yield* sql<{ readonly name: string }>`
        SELECT relname AS name
        FROM pg_class
        WHERE relname ~ '^executions_[0-9]{8}$'`
        for (const { name } of names) yield* sql`DROP TABLE ${sql(name)}`
        yield* sql`
        ALTER TABLE executions
        ATTACH PARTITION executions_ahead
        FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`
        yield* partitions.maintain(30)
        const [row] = yield* history(workspace_id)
        assert.strictEqual(row?.status, "cancelled")
        const [{ partition } = { partition: "" }] = yield* sql<{ readonly partition: string }>`
        SELECT tableoid::regclass::text AS partition
        FROM executions
        WHERE workspace_id = ${workspace_id}`
        assert.match(partition, /^executions_\d{8}$/)
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
    const node = yield* register(sql, { holdsLock: false, leaseMs: 1_000 })
    return { sql, workspace_id, run, node }
  })

  const take = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, node: number) {
    const { leased, started } = yield* claim(sql, {
      node,
      limit: 10,
      lookAheadMs: 0,
      from: beginningOf(0),
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
      assert.isEmpty((yield* settle(sql, [settlement({ ...result, lease_owner: node + 1 })])).ids)
      assert.isEmpty((yield* settle(sql, [settlement({ ...result, attempt: 2 })])).ids)
      assert.strictEqual((yield* unfinished(workspace_id)).length, 1)
      assert.deepStrictEqual((yield* settle(sql, [settlement(result)])).ids, [id])
      assert.isEmpty((yield* settle(sql, [settlement(result)])).ids)
      assert.strictEqual((yield* history(workspace_id)).length, 1)
    })
  )

  it.effect(
    "finds a run where it stood, or else where it stands, and ends no other in its place",
    () =>
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
        assert.deepStrictEqual((yield* settle(sql, [settlement(misplaced)])).ids, [run.id])
        assert.deepStrictEqual(
          (yield* unfinished(workspace_id)).map(({ id }) => id),
          [other.id]
        )
        // Its row is another one from now on.
        yield* sql`
        UPDATE runs
        SET lane = lane + 1
        WHERE id = ${other.id}`
        const moved = { ...result, id: other.id, row_at: placeOf(other.id) }
        assert.isEmpty((yield* settle(sql, [settlement({ ...moved, attempt: 2 })])).ids)
        assert.deepStrictEqual((yield* settle(sql, [settlement(moved)])).ids, [other.id])
        assert.strictEqual((yield* history(workspace_id)).length, 2)
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
      assert.isTrue((yield* judge(sql)).to_take_back)
      assert.strictEqual(yield* takeBack(sql, "dead", "perhaps going on"), 1)
      assert.isFalse((yield* judge(sql)).to_take_back)
      const late = settlement({ id: run.id, workspace_id, lease_owner: node })
      assert.isEmpty((yield* settle(sql, [late])).ids)
      assert.isEmpty((yield* take(sql, node)).started)
      const [again] = yield* unfinished(workspace_id)
      assert.deepInclude(again, { state: "queued", attempt: 2, lease_owner: null })
    })
  )

  it.effect("fails a run that was lost with its node for the fifth time", () =>
    Effect.gen(function* () {
      const { sql, workspace_id } = yield* prepare
      for (let death = 0; death < 5; death++) {
        const node = yield* register(sql, { holdsLock: false, leaseMs: 1_000 })
        yield* take(sql, node)
        yield* takeBack(sql, node, "gone")
      }
      const [execution] = yield* history(workspace_id)
      assert.deepInclude(execution, { status: "failed", attempts_count: 5, trigger: "retry" })
      const attempts = yield* sql`
        SELECT number, finished_at, error
        FROM attempts
        WHERE execution_id = ${execution?.id ?? ""}
        ORDER BY number`
      assert.strictEqual(attempts.length, 5)
      assert.deepInclude(attempts[0], { finished_at: null, error: "the node that ran it was lost" })
    })
  )
})
