import type { SqlClient } from "effect/sql"
import { waitsForWorker } from "../runsForWorkers.ts"
import { dueTimeWithoutSlot } from "../RunState.ts"

/** Maximum number of runs that one statement parks. */
const batch = 500

/**
 * Parks due runs for workers whose workspace is stopped. Otherwise they would fail, because no
 * worker claims them. Runs for nodes are parked when they are claimed.
 */
export const parkStopped = (sql: SqlClient.SqlClient) =>
  sql`
    UPDATE runs
    SET state = 'parked', slot_queue_id = NULL, due_at = ${sql.literal(dueTimeWithoutSlot())}
    WHERE ctid = ANY (ARRAY(
        SELECT runs.ctid
        FROM stopped_workspaces
        JOIN runs ON runs.workspace_id = stopped_workspaces.workspace_id
        WHERE ${sql.literal(waitsForWorker)}
          AND runs.due_at <= now()
          AND NOT runs.cancel_requested
        LIMIT ${batch}
        FOR UPDATE OF runs SKIP LOCKED
      ))`
