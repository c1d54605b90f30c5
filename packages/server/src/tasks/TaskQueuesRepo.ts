import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Prevents the deletion of the queue until the transaction ends. Returns false if the queue does
 * not exist.
 */
export const lockQueue = (
  sql: SqlClient.SqlClient,
  workspaceId: AuthorizedWorkspaceId,
  queueId: string
): Effect.Effect<boolean> =>
  sql`
    SELECT id
    FROM queues
    WHERE workspace_id = ${workspaceId}
      AND id = ${queueId}
    FOR KEY SHARE`.pipe(
    Effect.map((rows) => rows.length > 0),
    Effect.orDie
  )

interface HavingQueue {
  readonly workspace_id: string
  readonly queue_id: string | null
  readonly queue_key: string | null
}

/** Adds its queue's key to each record. If no record has a queue, no statement runs. */
export const withQueueKeys =
  (sql: SqlClient.SqlClient) =>
  <Record extends HavingQueue>(
    records: ReadonlyArray<Record>
  ): Effect.Effect<ReadonlyArray<Record>> => {
    const queued = records.filter(({ queue_id }) => queue_id !== null)
    if (queued.length === 0) return Effect.succeed(records)
    return sql<{ readonly id: string; readonly key: string }>`
      SELECT id, key
      FROM queues
      WHERE workspace_id = ANY (${queued.map(({ workspace_id }) => workspace_id)}::uuid[])
        AND id = ANY (${queued.map(({ queue_id }) => queue_id)}::uuid[])
        AND key IS NOT NULL`.pipe(
      Effect.map((rows) => {
        const keys = new Map(rows.map(({ id, key }) => [id, key]))
        return records.map((record) => {
          const queue_key = keys.get(record.queue_id ?? "")
          return queue_key === undefined ? record : { ...record, queue_key }
        })
      }),
      Effect.orDie
    )
  }
