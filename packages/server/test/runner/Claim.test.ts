import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { claim } from "../../src/runner/Claim.ts"
import { register } from "../../src/runner/Nodes.ts"
import { makeRunId } from "../../src/runner/RunId.ts"
import { RunQueue } from "../../src/runner/RunQueue.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { QueueLayer } from "./support/engine.ts"
import { insertTask, insertWorkspace, step, unfinished } from "./support/tasks.ts"

const TestLayer = QueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer))

layer(TestLayer, { excludeTestServices: true, timeout: "180 seconds" })("a claim", (it) => {
  it.effect("starts what is due, unless the start guard has more to judge", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* RunQueue
      const node = yield* register(sql, { holdsLock: false, leaseMs: 60_000 })
      const workspace_id = yield* insertWorkspace
      const cron = yield* insertTask(workspace_id, { url: "http://127.0.0.1:9/cron" })
      const delayed = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
      const later = yield* insertTask(workspace_id, { kind: "delayed", status: "pending" })
      const chain = yield* insertTask(workspace_id, { kind: "chain", steps: [step("a")] })
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

      const claimed = yield* claim(sql, { node, limit: 10, lookAheadMs: 60_000, except: [] })
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
      const rows = yield* unfinished(workspace_id)
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

  it.effect("takes nothing for a node that is dead", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const node = yield* register(sql, { holdsLock: false, leaseMs: 60_000 })
      yield* sql`UPDATE nodes SET died_at = now() WHERE id = ${node}`
      const workspace_id = yield* insertWorkspace
      const task_id = yield* insertTask(workspace_id)
      yield* (yield* RunQueue).enqueue({ workspace_id, task_id, kind: "cron" })
      const claimed = yield* claim(sql, { node, limit: 10, lookAheadMs: 0, except: [] })
      assert.deepStrictEqual(claimed, { started: [], leased: [] })
      const [run] = yield* unfinished(workspace_id)
      assert.deepInclude(run, { state: "queued", lease_owner: null })
    })
  )
})
