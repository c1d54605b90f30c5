import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { deleteHistoryOfDeletedWorkspaces } from "../../src/engine/deleteHistoryOfDeletedWorkspaces.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"
import { enqueueAll, insertTasks, insertWorkspace } from "./runner/support/tasks.ts"

/** Inserts executions with one attempt each, and their statistics. */
const insertHistory = Effect.fnUntraced(function* (workspaceId: string, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    WITH made AS (
      INSERT INTO executions
        (id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at, attempts_count, error)
      SELECT gen_random_uuid(), ${workspaceId}, gen_random_uuid(), 'cron', 'schedule', 'failed', now(), now(), 1, 'dns: host not found'
      FROM generate_series(1, ${count})
      RETURNING id, workspace_id
    )
    INSERT INTO earlier_attempts (execution_id, number, workspace_id, started_at, response_body, error)
    SELECT id, 1, workspace_id, now(), 'an answer', 'dns: host not found'
    FROM made`
  yield* sql`
    INSERT INTO execution_stats
      (workspace_id, task_id, hour, succeeded, failed, cancelled, skipped,
       durations, duration_counts, latenesses, lateness_counts)
    VALUES (${workspaceId}, NULL, now(), 0, ${count}, 0, 0, '{}', '{}', '{}', '{}')`
  yield* sql`
    INSERT INTO task_buckets
      (workspace_id, task_id, seconds, starts_at, succeeded, failed, cancelled, skipped,
       durations, duration_counts)
    VALUES (${workspaceId}, ${workspaceId}, 300, now(), 0, ${count}, 0, 0, '{}', '{}')`
})

const left = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      SELECT
        (SELECT count(*)::int FROM executions WHERE workspace_id = ${workspaceId}) AS executions,
        (SELECT count(*)::int FROM attempts WHERE workspace_id = ${workspaceId}) AS attempts,
        (SELECT count(*)::int FROM execution_stats WHERE workspace_id = ${workspaceId}) AS stats,
        (SELECT count(*)::int FROM task_buckets WHERE workspace_id = ${workspaceId}) AS buckets,
        (SELECT count(*)::int FROM removed_workspaces WHERE id = ${workspaceId}) AS noted`
  )

layer(TestDatabaseLayer, { excludeTestServices: true })(
  "the history of deleted workspaces",
  (it) => {
    it.effect("is removed whatever its length, and no other history is", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [gone, other] = [yield* insertWorkspace, yield* insertWorkspace]
        yield* insertHistory(gone, 5_001)
        yield* insertHistory(other, 2)
        yield* sql`INSERT INTO removed_workspaces (id) VALUES (${gone})`

        yield* deleteHistoryOfDeletedWorkspaces(sql)

        assert.deepStrictEqual(yield* left(gone), [
          { executions: 0, attempts: 0, stats: 0, buckets: 0, noted: 0 }
        ])
        assert.deepStrictEqual(yield* left(other), [
          { executions: 2, attempts: 2, stats: 1, buckets: 1, noted: 0 }
        ])
      })
    )

    it.effect("is remembered until the last of its runs has finished on any node", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const gone = yield* insertWorkspace
        yield* insertHistory(gone, 1)
        yield* insertTasks(gone, { count: 1 })
        yield* enqueueAll(gone)
        yield* sql`INSERT INTO removed_workspaces (id) VALUES (${gone})`
        const maintain = Effect.all(
          [deleteHistoryOfDeletedWorkspaces(sql), deleteHistoryOfDeletedWorkspaces(sql)],
          { concurrency: "unbounded" }
        )
        yield* maintain
        assert.strictEqual((yield* left(gone))[0]?.["noted"], 1)

        // The last run finishes and adds history, which must be removed.
        yield* sql`DELETE FROM runs WHERE workspace_id = ${gone}`
        yield* insertHistory(gone, 1)
        yield* maintain
        assert.deepStrictEqual(yield* left(gone), [
          { executions: 0, attempts: 0, stats: 0, buckets: 0, noted: 0 }
        ])
      })
    )
  }
)
