// @tags slow
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { claim } from "../../../src/engine/transitions/claim.ts"
import { firstPositionAt } from "../../../src/engine/laneTurns.ts"
import { declareAllNodesDead, registerNode } from "../../../src/engine/Nodes.ts"
import { recover } from "../../../src/engine/transitions/recover.ts"
import { Runner } from "../../../src/engine/runner/Runner.ts"
import { RunQueue } from "../../../src/engine/RunQueue.ts"
import { start } from "../../../src/engine/transitions/start.ts"
import { onPostgres, TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { nodeLayer, RunQueueLayer } from "./support/engine.ts"
import { makeFakeCalls, urlOf } from "./support/fakeCalls.ts"
import {
  eventually,
  readExecutions,
  insertTask,
  insertTasks,
  insertWorkspace,
  callStep,
  readRuns
} from "./support/tasks.ts"

const kib = 1024
const callBytes = 2_048 * kib

const calls = makeFakeCalls()
const { answers } = calls

const OneNode = nodeLayer(calls.layer, { callBytes }).pipe(Layer.provideMerge(TestDatabaseLayer))

const letters = (bytes: number) => "x".repeat(bytes)

/** Makes calls to this path wait until they are released. */
const hold = (path: string) => {
  const open: Array<() => void> = []
  let most = 0
  answers.set(path, () =>
    Effect.callback((resume) => {
      open.push(() => resume(Effect.succeed({})))
      most = Math.max(most, open.length)
    })
  )
  return {
    open: () => open.length,
    most: () => most,
    leaveQueue: Effect.sync(() => {
      for (const end of open.splice(0)) end()
    })
  }
}

const stats = Effect.flatMap(Runner, (runner) => runner.stats)

const settled = (workspaceId: string, count: number) =>
  eventually(readExecutions(workspaceId), (rows) => rows.length === count)

layer(OneNode, { excludeTestServices: true, timeout: "120 seconds" })("large calls", (it) => {
  const delayed = Effect.fnUntraced(function* (count: number, body: string, path: string) {
    const queue = yield* RunQueue
    const sql = yield* SqlClient.SqlClient
    const workspace_id = yield* insertWorkspace
    const tasks = yield* insertTasks(workspace_id, {
      kind: "delayed",
      status: "pending",
      url: urlOf(path),
      body,
      count
    })
    // All runs are due at the same time, so that a single claim finds all of them.
    yield* Effect.forEach(
      tasks,
      (task_id) => queue.schedule({ workspace_id, task_id, run_at: new Date(0) }),
      { discard: true }
    ).pipe(sql.withTransaction)
    return workspace_id
  })

  it.effect("in flight use only their own bytes, and leave room for other workspaces", () =>
    Effect.gen(function* () {
      const body = letters(255 * kib)
      const held = hold("/heavy")
      const greedy = yield* delayed(30, body, "/heavy")
      // Six calls fill four fifths of the two megabytes, which is the maximum for one workspace.
      yield* eventually(Effect.sync(held.open), (open) => open === 6)

      const modest = yield* delayed(1, body, "/modest")
      yield* settled(modest, 1)
      assert.strictEqual(calls.to("/modest")[0]?.body, body)

      for (let left = 30; left > 0; left -= 6) {
        yield* eventually(Effect.sync(held.open), (open) => open === Math.min(6, left))
        assert.isAtMost((yield* stats).bytes, callBytes)
        yield* held.leaveQueue
      }
      const rows = yield* settled(greedy, 30)
      assert.isTrue(rows.every((row) => row.status === "succeeded"))
      assert.strictEqual(held.most(), 6)
      assert.strictEqual((yield* eventually(stats, ({ running }) => running === 0)).bytes, 0)
    })
  )

  it.effect("that wait for room are cancelled like any other", () =>
    Effect.gen(function* () {
      const held = hold("/stuck")
      const workspace_id = yield* delayed(10, letters(255 * kib), "/stuck")
      yield* eventually(Effect.sync(held.open), (open) => open === 6)
      yield* eventually(readRuns(workspace_id), (runs) =>
        runs.every((run) => run.state === "running")
      )
      const queue = yield* RunQueue
      const called = new Set(calls.to("/stuck").map(({ execution_id }) => execution_id))
      const runs = yield* readRuns(workspace_id)
      // Waiting runs are cancelled first. Otherwise, they would start as the others release their
      // capacity.
      for (const { task_id } of runs.toSorted((a) => (called.has(a.id) ? 1 : -1))) {
        yield* queue.stop({ workspace_id, task_id })
        yield* eventually(readRuns(workspace_id), (left) =>
          left.every((run) => run.task_id !== task_id)
        )
      }
      const rows = yield* settled(workspace_id, 10)
      assert.isTrue(rows.every((row) => row.status === "cancelled"))
      // The waiting runs made no calls, so no attempts were recorded.
      assert.strictEqual(rows.filter((row) => row.attempts_count === 0).length, 4)
      assert.strictEqual((yield* stats).bytes, 0)
    })
  )

  it.effect("are read when there is room for them, with the present definition of the task", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const held = hold("/full")
      const greedy = yield* delayed(7, letters(255 * kib), "/full")
      yield* eventually(Effect.sync(held.open), (open) => open === 6)
      const body = letters(200 * kib)
      yield* sql`
        UPDATE tasks
        SET body = ${body}
        WHERE workspace_id = ${greedy}`
      yield* held.leaveQueue
      yield* eventually(Effect.sync(held.open), (open) => open === 1)
      assert.strictEqual(calls.to("/full").at(-1)?.body, body)
      yield* held.leaveQueue
      yield* settled(greedy, 7)
    })
  )

  it.effect("of a chain are filled in with the responses that they use", () =>
    Effect.gen(function* () {
      const answer = letters(9_900)
      answers.set("/large", () => Effect.succeed({ response_body: answer }))
      const workspace_id = yield* insertWorkspace
      const text = "{{ steps.one.body }}"
      const task_id = yield* insertTask(workspace_id, {
        kind: "chain",
        steps: [
          callStep("one", { url: urlOf("/large") }),
          callStep("two", { url: urlOf("/other") }),
          callStep("three", {
            url: urlOf("/filled"),
            headers: { "content-type": "text/plain" },
            body: text.repeat(20)
          })
        ]
      })
      yield* (yield* RunQueue).enqueue({ workspace_id, task_id, kind: "chain" })
      yield* settled(workspace_id, 3)
      assert.strictEqual(calls.to("/filled")[0]?.body, answer.repeat(20))
      assert.strictEqual((yield* stats).bytes, 0)
    })
  )
})

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("what large calls cost", (it) => {
  describe("a start", () => {
    it.effect("does not read them, so that a node that they crash counts as lost", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        const workspace_id = yield* insertWorkspace
        const body = letters(100 * kib)
        const task = yield* insertTask(workspace_id, { body })
        const chain = yield* insertTask(workspace_id, {
          kind: "chain",
          steps: ["a", "b"].map((name) => callStep(name, { body }))
        })
        yield* queue.enqueue({ workspace_id, task_id: task, kind: "cron" })
        yield* queue.enqueue({ workspace_id, task_id: chain, kind: "chain" })

        for (let loss = 1; loss <= 5; loss++) {
          const node = yield* registerNode(sql, { holdsLock: false, leaseMs: 1_000 })
          const claimed = yield* claim(sql, {
            node,
            limit: 10,
            lookAheadMs: 0,
            from: firstPositionAt(0),
            turns: null
          })
          const guarded = yield* start(sql, node, claimed.leased)
          const started = [...claimed.started, ...guarded.started]
          assert.deepStrictEqual(
            started.map(({ call, kind, lost }) => ({ call, kind, lost })).toSorted(byKind),
            [
              { call: null, kind: "chain", lost: loss - 1 },
              { call: null, kind: "cron", lost: loss - 1 }
            ]
          )
          for (const run of started) assert.isAtLeast(run.withheld, 100 * kib)
          yield* declareAllNodesDead(sql)
          yield* recover(sql, "dead", "perhaps going on")
        }

        assert.isEmpty(yield* readRuns(workspace_id))
        const rows = yield* readExecutions(workspace_id)
        assert.deepStrictEqual(
          rows.map(({ error, status, step }) => ({ error, status, step })).toSorted(byStep),
          [
            { error: lostTooOften, status: "failed", step: null },
            { error: lostTooOften, status: "failed", step: "a" },
            { error: null, status: "skipped", step: "b" }
          ]
        )
      })
    )
  })

  // On a PostgreSQL server, other tests write WAL at the same time.
  describe.skipIf(onPostgres)("a run of a chain of a megabyte", () => {
    it.effect("writes no more than one of a small chain", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* RunQueue
        const written = Effect.map(
          sql<{ readonly bytes: number }>`
            SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes`,
          ([row]) => row?.bytes ?? 0
        )
        const costOf = Effect.fnUntraced(function* (body: string) {
          const workspace_id = yield* insertWorkspace
          const task_id = yield* insertTask(workspace_id, {
            kind: "chain",
            steps: Array.from({ length: 50 }, (_, index) => callStep(`s${index}`, { body }))
          })
          const before = yield* written
          yield* queue.enqueue({ workspace_id, task_id, kind: "chain" })
          yield* settled(workspace_id, 50)
          return (yield* written) - before
        })
        yield* Effect.gen(function* () {
          yield* costOf("warm")
          const small = yield* costOf("small")
          const large = yield* costOf(noise(20 * kib))
          assert.isBelow(large, small + 200 * kib)
        }).pipe(Effect.provide(nodeLayer(calls.layer)))
      })
    )
  })
})

const lostTooOften = "node_lost: the node was lost during the call, for the 5th time"

const byKind = (a: { readonly kind: string }, b: { readonly kind: string }) =>
  a.kind.localeCompare(b.kind)

const byStep = (a: { readonly step: string | null }, b: { readonly step: string | null }) =>
  (a.step ?? "").localeCompare(b.step ?? "")

/** Returns text that cannot be compressed. */
const noise = (bytes: number) => {
  let state = 1
  let text = ""
  while (text.length < bytes) {
    state = (state * 48_271) % 2_147_483_647
    text += state.toString(36)
  }
  return text.slice(0, bytes)
}
