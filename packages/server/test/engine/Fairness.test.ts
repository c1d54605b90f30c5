// @tags slow
import { assert, describe, it } from "@effect/vitest"
import { Effect, identity } from "effect"
import { SqlClient } from "effect/sql"
import { RunQueue } from "../../src/engine/RunQueue.ts"
import { onPostgres, TestDatabaseLayer } from "../support/TestDatabase.ts"
import { nodeLayer } from "./runner/support/engine.ts"
import { makeFakeCalls, urlOf } from "./runner/support/fakeCalls.ts"
import {
  enqueueAll,
  eventually,
  readExecutions,
  insertTask,
  insertTasks,
  insertWorkspace,
  insertWorkspaceIn,
  deriveLane,
  readRuns
} from "./runner/support/tasks.ts"

const concurrency = 64

describe("workspaces whose calls never end", () => {
  it.live(
    "leave room for the runs of others, however long their own backlog",
    () =>
      Effect.gen(function* () {
        const calls = makeFakeCalls()
        calls.answers.set("/endless", () => Effect.never)
        yield* Effect.gen(function* () {
          const queue = yield* RunQueue
          for (let greedy = 0; greedy < 2; greedy++) {
            const workspace_id = yield* insertWorkspace
            yield* insertTasks(workspace_id, { count: 3 * concurrency, url: urlOf("/endless") })
            yield* enqueueAll(workspace_id)
            yield* queue.wake(new Date())
            yield* eventually(readRuns(workspace_id), (runs) =>
              runs.some(({ state }) => state === "running")
            )
          }
          for (let newcomer = 0; newcomer < 3; newcomer++) {
            const workspace_id = yield* insertWorkspace
            const task_id = yield* insertTask(workspace_id, { url: urlOf("/short") })
            yield* queue.enqueue({ workspace_id, task_id, kind: "cron" })
            const [execution] = yield* eventually(
              readExecutions(workspace_id),
              (rows) => rows.length > 0
            )
            assert.strictEqual(execution?.status, "succeeded")
          }
          assert.isBelow(calls.to("/endless").length, concurrency)
        }).pipe(Effect.provide(nodeLayer(calls.layer, { concurrency, stopMs: 100 })))
      }).pipe(Effect.provide(TestDatabaseLayer)),
    60_000
  )
})

/** Runs one task in each of many new workspaces. Every run must succeed. */
const newcomersAreServed = Effect.fnUntraced(function* (count: number, path: string) {
  const queue = yield* RunQueue
  for (let newcomer = 0; newcomer < count; newcomer++) {
    const workspace_id = yield* insertWorkspace
    const task_id = yield* insertTask(workspace_id, { url: urlOf(path) })
    yield* queue.enqueue({ workspace_id, task_id, kind: "cron" })
    const [execution] = yield* eventually(readExecutions(workspace_id), (rows) => rows.length > 0)
    assert.strictEqual(execution?.status, "succeeded")
  }
})

describe("accounts with many workspaces whose calls never end", () => {
  it.live(
    "leave room for the runs of others on each node",
    () =>
      Effect.gen(function* () {
        const calls = makeFakeCalls()
        calls.answers.set("/endless", () => Effect.never)
        const node = nodeLayer(calls.layer, { concurrency, stopMs: 100 })
        yield* Effect.gen(function* () {
          const queue = yield* RunQueue
          const hostile: Array<string> = []
          for (let account = 0; account < 20; account++) {
            for (let workspace = 0; workspace < 10; workspace++) {
              const workspace_id = yield* insertWorkspaceIn(deriveLane(account + 1))
              yield* insertTasks(workspace_id, { count: 3, url: urlOf("/endless") })
              yield* enqueueAll(workspace_id)
              hostile.push(workspace_id)
            }
          }
          yield* queue.wake(new Date())
          yield* eventually(
            Effect.sync(() => calls.to("/endless").length),
            (count) => count >= concurrency / 2
          )
          yield* newcomersAreServed(20, "/short")
          assert.isBelow(calls.to("/endless").length, 2 * concurrency)
          assert.isNotEmpty(yield* readRuns(hostile[0] ?? ""))
        }).pipe(
          Effect.provide(node),
          // The embedded store has one node.
          onPostgres ? Effect.provide(node) : identity
        )
      }).pipe(Effect.provide(TestDatabaseLayer)),
    120_000
  )
})

describe("an account with thousands of tasks at one moment", () => {
  it.live(
    "does not hold up the tasks of others at that moment, nor what is due before it",
    () =>
      Effect.gen(function* () {
        const calls = makeFakeCalls()
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const many = yield* insertWorkspaceIn(deriveLane(1))
          const few = yield* insertWorkspaceIn(deriveLane(2))
          yield* insertTasks(many, { count: 6_000, url: urlOf("/many") })
          yield* insertTasks(few, { count: 10, url: urlOf("/few") })
          yield* sql`
            UPDATE tasks
            SET next_fire_at = date_trunc('second', now()) + interval '6 seconds'`
          yield* Effect.gen(function* () {
            yield* eventually(readRuns(few), (runs) => runs.length === 10)
            const fired = yield* sql<{ readonly count: number }>`
              SELECT count(*)::integer AS count
              FROM runs
              WHERE workspace_id = ${many}`
            // Two batches are claimed: the first in order of time, the second in turn across
            // accounts. A third batch may be in progress.
            assert.isAtMost(fired[0]?.count ?? 0, 1_500)
            yield* newcomersAreServed(3, "/now")
            yield* eventually(readExecutions(few), (rows) => rows.length === 10)
            assert.isBelow(calls.to("/many").length, 6_000)
          }).pipe(
            Effect.provide(
              nodeLayer(calls.layer, {
                concurrency,
                maxHeld: 1_000,
                lookAheadMs: 4_000,
                stopMs: 100
              })
            )
          )
        })
      }).pipe(Effect.provide(TestDatabaseLayer)),
    120_000
  )
})
