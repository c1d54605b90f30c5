import type { SqlClient } from "effect/sql"
import { isInPhase } from "../RunState.ts"

/** Maximum number of runs that one statement releases. */
const batch = 500

/**
 * Releases the runs of deleted queues. They were parked while their task was being moved to another
 * queue.
 */
export const leaveQueue = (sql: SqlClient.SqlClient, queueIds: ReadonlyArray<string>) =>
  sql`
    UPDATE runs
    SET queue_id = NULL, state = 'ready', due_at = greatest(due_at, now())
    WHERE ctid = ANY (ARRAY(
        SELECT ctid
        FROM runs
        WHERE ${sql.literal(isInPhase("parked"))}
          AND runs.queue_id = ANY (${queueIds}::uuid[])
          AND NOT EXISTS (SELECT FROM queues WHERE queues.id = runs.queue_id)
        LIMIT ${batch}
        FOR UPDATE SKIP LOCKED
      ))`
