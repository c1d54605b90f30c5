import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

const removeBatch = 5_000

/**
 * Deletes the history of deleted workspaces that have no unfinished runs, in small batches with
 * short locks.
 */
export const deleteHistoryOfDeletedWorkspaces = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
) {
  const gone = yield* sql<{ readonly id: string }>`
    SELECT id
    FROM removed_workspaces
    WHERE NOT EXISTS (
        SELECT
        FROM runs
        WHERE runs.workspace_id = removed_workspaces.id
      )`
  for (const { id } of gone) {
    while ((yield* removeNewest(sql, id)) === removeBatch);
    yield* removeStatistics(sql, id)
  }
})

/**
 * Deletes a batch of executions with their attempts, and returns the number of executions. The
 * DELETE lists ids, because an id determines its partition. A join with the batch would read all
 * partitions.
 */
const removeNewest = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, workspaceId: string) {
  const rows = yield* sql<{ readonly id: string }>`
    SELECT id
    FROM executions
    WHERE workspace_id = ${workspaceId}
    ORDER BY id DESC
    LIMIT ${removeBatch}`
  const ids = rows.map(({ id }) => id)
  yield* sql`
    DELETE FROM earlier_attempts
    WHERE execution_id = ANY (${ids}::uuid[])`
  yield* sql`
    DELETE FROM executions
    WHERE workspace_id = ${workspaceId}
      AND id = ANY (${ids}::uuid[])`
  return ids.length
})

/**
 * Removes the statistics of a deleted workspace. Waits for a concurrent roll-up, which may have
 * read executions that have since been deleted.
 */
const removeStatistics = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  workspaceId: string
) {
  let isRemoved = false
  while (!isRemoved) isRemoved = yield* removeSomeStatistics(sql, workspaceId)
  yield* sql`
    DELETE FROM removed_workspaces
    WHERE id = ${workspaceId}`
})

/**
 * Removes a batch of statistics, and all incidents, usage and quota notices. Returns whether no
 * statistics are left.
 */
const removeSomeStatistics = (sql: SqlClient.SqlClient, workspaceId: string) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`
        SELECT rolled_up_to
        FROM execution_stats_progress
        FOR UPDATE`
      const rows = yield* sql`
        DELETE FROM execution_stats
        WHERE ctid = ANY (ARRAY (
            SELECT ctid
            FROM execution_stats
            WHERE workspace_id = ${workspaceId}
            LIMIT ${removeBatch}
          ))
        RETURNING hour`
      const buckets = yield* sql`
        DELETE FROM task_buckets
        WHERE ctid = ANY (ARRAY (
            SELECT ctid
            FROM task_buckets
            WHERE workspace_id = ${workspaceId}
            LIMIT ${removeBatch}
          ))
        RETURNING starts_at`
      yield* sql`
        DELETE FROM usage_days
        WHERE workspace_id = ${workspaceId}`
      yield* sql`
        DELETE FROM incidents
        WHERE workspace_id = ${workspaceId}`
      yield* sql`
        DELETE FROM quota_notices
        WHERE workspace_id = ${workspaceId}`
      return rows.length < removeBatch && buckets.length < removeBatch
    })
  )
