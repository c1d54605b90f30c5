// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { announceFinished } from "../../src/events/announceFinished.ts"
import { enqueueAll, insertTasks, insertWorkspace } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const others = 20_000

/**
 * Returns the query plan for the statement that settles a workspace's runs as succeeded. The
 * statement is rolled back.
 */
const planOfSettling = Effect.fnUntraced(function* (workspaceId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(
    `EXPLAIN (ANALYZE, BUFFERS)
    WITH finished AS (
      DELETE FROM runs
      WHERE workspace_id = '${workspaceId}'
      RETURNING
        runs.*, 'succeeded' AS status, true AS started, now() AS finished_at, NULL::uuid AS next_id
    ), ${announceFinished}
    SELECT count(*)
    FROM announced`
  )
  return rows.map((row) => row["QUERY PLAN"]).join("\n")
})

layer(TestDatabaseLayer)("the statement that settles a run", (it) => {
  it.effect("reads only tasks that have callbacks, however many tasks there are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* insertTasks(yield* insertWorkspace, { count: others })
      const workspace = yield* insertWorkspace
      const [first = ""] = yield* insertTasks(workspace, { count: 100 })
      yield* sql`
        UPDATE tasks
        SET ending_options = '{"on_success":{"url":"https://example.com/"}}'
        WHERE id = ${first}`
      for (const isAnalysed of [false, true]) {
        if (isAnalysed) yield* sql`ANALYZE tasks`
        yield* enqueueAll(workspace)
        const plan = yield* planOfSettling(workspace)
        assert.notInclude(plan, "Seq Scan on tasks")
        const probe = /Index Scan using tasks_with_ending_options .*/.exec(plan)?.[0] ?? plan
        assert.match(probe, /actual time=\S+ rows=0(?:\.01)? loops=100\)/)
      }
    })
  )
})
