import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { inState } from "./transitions/inState.ts"
import { findLastDowntimeEnd, removeOldAbsences } from "../../src/engine/Absences.ts"
import { makeRunId } from "../../src/engine/RunId.ts"
import { checkNodes } from "../../src/engine/Nodes.ts"
import { callLayer, nodeLayer } from "./runner/support/engine.ts"
import { eventually, insertTask, insertWorkspace, readRuns } from "./runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const OneNode = nodeLayer(callLayer(() => Effect.succeed({})))

/**
 * Simulates a time when the service was not running. If `endedSecondsAgo` is null, the service has
 * just started again and no node has recorded the absence yet.
 */
const away = Effect.fnUntraced(function* (beganSecondsAgo: number, endedSecondsAgo: number | null) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    DELETE FROM absences
    WHERE ended_at IS NULL`
  const ago = (seconds: number | null) => sql`now() - ${seconds}::float8 * interval '1 second'`
  yield* sql`
    INSERT INTO absences (began_at, ended_at)
    VALUES (${ago(beganSecondsAgo)}, ${ago(endedSecondsAgo)})`
})

const forget = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    WITH gone AS (DELETE FROM absences)
    DELETE FROM runs`
)

/** Inserts a run that is due on a worker, or whose job must report within this time. */
const wait = Effect.fnUntraced(function* (secondsAgo: number, forSeconds: number, on: string) {
  const sql = yield* SqlClient.SqlClient
  const workspace_id = yield* insertWorkspace
  const task_id = yield* insertTask(workspace_id)
  const since = new Date(Date.now() - secondsAgo * 1_000)
  const run = { workspace_id, task_id, kind: "cron", trigger: "schedule", scheduled_for: since }
  yield* sql`INSERT INTO runs ${sql.insert({
    ...run,
    id: makeRunId(since.getTime(), Date.now()),
    due_at: since,
    ...(on === "worker"
      ? { run_on: `{"labels":["moon"]}`, worker_wait_seconds: forSeconds }
      : {
          ...inState("awaiting", { at: since }),
          completes_by: new Date(since.getTime() + forSeconds * 1_000)
        })
  })}`
  return workspace_id
})

layer(TestDatabaseLayer, { excludeTestServices: true })("while the service is away", (it) => {
  for (const [on, column] of [
    ["worker", "unclaimed"],
    ["call-back", "overdue"]
  ] as const) {
    it.effect(`the time limit of waiting for a ${on} is suspended`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const isOver = Effect.map(
          checkNodes(sql, { forMs: 60_000, isLong: true }),
          (judged) => judged[column]
        )
        yield* forget
        yield* wait(3_600, 60, on)
        assert.isTrue(yield* isOver)
        // The service ran for twenty seconds, and has been running again for the last thirty.
        yield* away(3_580, 30)
        assert.isFalse(yield* isOver)
        yield* forget
        yield* wait(3_600, 60, on)
        yield* away(3_580, 45)
        assert.isTrue(yield* isOver)
        // Agents and jobs have not had enough time to reconnect.
        assert.isFalse((yield* checkNodes(sql))[column])
        // For ten of those seconds, the service was absent again.
        yield* away(20, 10)
        assert.isFalse(yield* isOver)
      })
    )
  }

  it.effect("the next node that checks knows when it began", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const absences = sql<{ readonly seconds: number | null }>`
        SELECT date_part('epoch', ended_at - began_at)::int AS seconds
        FROM absences
        ORDER BY id`
      const seconds = Effect.map(absences, (rows) => rows.map((row) => row.seconds))
      yield* forget
      yield* checkNodes(sql)
      assert.deepStrictEqual(yield* seconds, [null])
      // A restart or a delayed node does not count as an absence.
      yield* away(12, null)
      yield* checkNodes(sql)
      assert.deepStrictEqual(yield* seconds, [null])
      assert.isNull(yield* findLastDowntimeEnd(sql))
      yield* away(100, null)
      yield* wait(70, 60, "worker")
      // The absence counts even before it is recorded.
      assert.isFalse((yield* checkNodes(sql, { forMs: 60_000, isLong: true })).unclaimed)
      assert.deepStrictEqual(yield* seconds, [100, null])
      yield* checkNodes(sql)
      assert.deepStrictEqual(yield* seconds, [100, null])
      assert.closeTo((yield* findLastDowntimeEnd(sql))?.getTime() ?? 0, Date.now(), 60_000)
      yield* away(40 * 86_400, 35 * 86_400)
      yield* removeOldAbsences(sql)
      assert.deepStrictEqual(yield* seconds, [100])
    })
  )

  it.effect("a slot is missed, and a worker then gets the full waiting time of the task", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* forget
      const workspace = yield* insertWorkspace
      const task = yield* insertTask(workspace, { missed: "once", fires_in: -3_600_000 })
      yield* sql`
        UPDATE tasks
        SET run_on = '{"labels":["moon"]}', worker_wait_seconds = 3000
        WHERE id = ${task}`
      yield* Layer.build(OneNode)
      yield* eventually(readRuns(workspace), (rows) => rows.length === 1)
      assert.isFalse((yield* checkNodes(sql, { forMs: 60_000, isLong: true })).unclaimed)
      const [run] = yield* sql<{ readonly waited: number; readonly late: number }>`
        SELECT
          date_part('epoch', now() - due_at) AS waited,
          date_part('epoch', now() - scheduled_for) AS late
        FROM runs
        WHERE workspace_id = ${workspace}`
      assert.isBelow(run?.waited ?? 3_600, 600)
      assert.isAtLeast(run?.late ?? 0, 3_600)
    }).pipe(Effect.scoped)
  )
})
