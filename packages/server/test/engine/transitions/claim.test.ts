import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { claim, type ClaimOptions } from "../../../src/engine/transitions/claim.ts"
import { handBack } from "../../../src/engine/transitions/handBack.ts"
import { registerNode } from "../../../src/engine/Nodes.ts"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { firstPositionAt } from "../../../src/engine/laneTurns.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { RunQueueLayer } from "../runner/support/engine.ts"
import {
  enqueueAll,
  insertTask,
  insertTasks,
  insertWorkspace,
  insertWorkspaceIn,
  deriveLane,
  callStep,
  readRuns
} from "../runner/support/tasks.ts"

const TestLayer = RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

const claimAs = (node: number, options: Partial<ClaimOptions>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    claim(sql, {
      node,
      limit: 10,
      lookAheadMs: 0,
      from: firstPositionAt(0),
      turns: null,
      ...options
    })
  )

const inTurns = { except: [], exceptAhead: [] }

const sharesOf = (runs: ReadonlyArray<{ readonly share: number }>) => {
  const counts: Record<number, number> = {}
  for (const { share } of runs) counts[share] = (counts[share] ?? 0) + 1
  return counts
}

/** Inserts due runs, spread over the given number of seconds before now. */
const insertBacklog = Effect.fnUntraced(function* (lane: bigint, count: number, seconds = 0) {
  const sql = yield* SqlClient.SqlClient
  const workspace_id = yield* insertWorkspaceIn(lane)
  yield* insertTasks(workspace_id, { count })
  yield* enqueueAll(workspace_id)
  yield* sql`
    UPDATE runs
    SET due_at = due_at - random() * ${seconds} * interval '1 second'
    WHERE workspace_id = ${workspace_id}`
  return workspace_id
})

const nodeOnEmptyQueue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM runs`
  return yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
})

layer(TestLayer, { excludeTestServices: true })("a claim", (it) => {
  it.effect("starts due runs, unless the start guard has more to check", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
      const workspace_id = yield* insertWorkspace
      const cron = yield* insertTask(workspace_id, { url: "http://127.0.0.1:9/cron" })
      const delayed = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
      const later = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
      const chain = yield* insertTask(workspace_id, { kind: "chain", steps: [callStep("a")] })
      const now = Date.now()

      const manual = yield* queue.enqueue({ workspace_id, task_id: cron, kind: "cron" })
      const due = yield* queue.schedule({ workspace_id, task_id: delayed, run_at: new Date(now) })
      const soon = yield* queue.schedule({
        workspace_id,
        task_id: later,
        run_at: new Date(now + 30_000)
      })
      const ofChain = yield* queue.enqueue({ workspace_id, task_id: chain, kind: "chain" })
      const scheduled = makeRunId(now, now)
      yield* sql`
        INSERT INTO runs (id, workspace_id, task_id, kind, trigger, slot_at, scheduled_for, due_at)
        VALUES (${scheduled}, ${workspace_id}, ${cron}, 'cron', 'schedule', now(), now(), now())`

      const claimed = yield* claimAs(node, { lookAheadMs: 60_000 })
      assert.sameMembers(
        claimed.started.map(({ id }) => id),
        [manual.id, due.id]
      )
      assert.strictEqual(
        claimed.started.find(({ id }) => id === manual.id)?.call?.url,
        "http://127.0.0.1:9/cron"
      )
      assert.sameMembers(
        claimed.leased.map(({ id }) => id),
        [soon.id, ofChain.id, scheduled]
      )
      const rows = yield* readRuns(workspace_id)
      assert.sameMembers(
        rows.filter(({ state }) => state === "running").map(({ id }) => id),
        [manual.id, due.id]
      )
      assert.deepStrictEqual(
        rows.map(({ lease_owner }) => lease_owner),
        rows.map(() => node)
      )
    })
  )

  it.effect("claims nothing for a dead node", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 60_000 })
      yield* sql`UPDATE nodes SET died_at = now() WHERE id = ${node}`
      const workspace_id = yield* insertWorkspace
      const task_id = yield* insertTask(workspace_id)
      yield* (yield* RunQueue).enqueue({ workspace_id, task_id, kind: "cron" })
      const claimed = yield* claimAs(node, {})
      assert.deepStrictEqual(claimed, { started: [], leased: [], parked: 0, reached: null })
      const [run] = yield* readRuns(workspace_id)
      assert.deepInclude(run, { state: "ready", lease_owner: null })
    })
  )

  it.effect("alternates between lanes, however long the backlog of one of them is", () =>
    Effect.gen(function* () {
      const node = yield* nodeOnEmptyQueue
      yield* insertBacklog(deriveLane(1), 2_000, 60)
      yield* insertBacklog(deriveLane(2), 30)
      yield* insertBacklog(deriveLane(3), 1)
      const { reached, started } = yield* claimAs(node, { limit: 100, turns: inTurns })
      const counts = sharesOf(started)
      assert.isAtMost(started.length, 100)
      assert.isAtLeast(counts[2] ?? 0, 12)
      assert.strictEqual(counts[3], 1)
      assert.isNull(reached)
    })
  )

  it.effect("skips accounts that have enough runs, reading a few pages of the index", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const node = yield* nodeOnEmptyQueue
      const greedy = yield* insertBacklog(deriveLane(-7, 5), 5_000, 20)
      yield* sql`
        UPDATE runs
        SET lane = lane + random() * 100
        WHERE workspace_id = ${greedy}`
      yield* insertBacklog(deriveLane(9), 3)
      const { started } = yield* claimAs(node, { turns: { except: [-7], exceptAhead: [] } })
      assert.deepStrictEqual(sharesOf(started), { 9: 3 })
    })
  )

  it.effect("continues where it stopped, until it has visited everything", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const node = yield* nodeOnEmptyQueue
      const many = yield* insertBacklog(deriveLane(1), 1_000)
      yield* sql`
        UPDATE runs
        SET lane = floor(random() * 300)::bigint * 4294967296
        WHERE workspace_id = ${many}`
      const found = new Set<number>()
      let from = firstPositionAt(0)
      for (let statement = 0; statement < 2; statement++) {
        const claimed = yield* claimAs(node, { limit: 400, from, turns: inTurns })
        for (const { share } of claimed.started) found.add(share)
        from = claimed.reached ?? firstPositionAt(0)
      }
      const lanes = yield* sql<{ readonly lanes: number }>`
        SELECT count(DISTINCT lane)::integer AS lanes
        FROM runs`
      assert.strictEqual(found.size, lanes[0]?.lanes)
    })
  )

  it.effect("prefetches nothing for accounts that hold enough runs", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const node = yield* nodeOnEmptyQueue
      const enough = yield* insertBacklog(deriveLane(1), 4)
      const other = yield* insertBacklog(deriveLane(2), 4)
      yield* sql`
        UPDATE runs
        SET due_at = now() + interval '20 seconds'
        WHERE (workspace_id, id) IN (
          (SELECT workspace_id, id FROM runs WHERE workspace_id = ${enough} LIMIT 2)
          UNION ALL
          (SELECT workspace_id, id FROM runs WHERE workspace_id = ${other} LIMIT 2)
        )`
      const { leased, started } = yield* claimAs(node, {
        limit: 100,
        lookAheadMs: 60_000,
        turns: { except: [], exceptAhead: [1] }
      })
      assert.deepStrictEqual(sharesOf(started), { 1: 2, 2: 2 })
      assert.deepStrictEqual(sharesOf(leased), { 2: 2 })
    })
  )

  it.effect("is undone if the calls were not made", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const node = yield* nodeOnEmptyQueue
      const workspace_id = yield* insertBacklog(deriveLane(1), 2)
      const { started } = yield* claimAs(node, {})
      yield* handBack(
        sql,
        node,
        started.map(({ id }) => id)
      )
      const rows = yield* sql`
        SELECT state, lease_owner, started_at
        FROM runs
        WHERE workspace_id = ${workspace_id}`
      const ready = { state: "ready", lease_owner: null, started_at: null }
      assert.deepStrictEqual(rows, [ready, ready])
    })
  )
})
